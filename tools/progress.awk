# Shows what go build -v reports, each package when it is compiled, as what is left of
# the programs. A program comes after all that it is made of; what is up to date is
# not reported, hence "at most". Ends with 1 after the line "failed":
#
#	{ go build -v ./a ./b 2>&1 || echo failed; } | awk -v programs="./a ./b" -f progress.awk
BEGIN { left = split(programs, list, " "); for (i in list) program["quotary" substr(list[i], 2)] = 1 }
$0 == "failed" { failed = 1; next }
$0 in program { printf "  building %s, %d at most to go\n", $0, --left; fflush(); next }
/^[^ :]+$/ { if (++compiled % 50 == 0) { printf "  compiled %d packages\n", compiled; fflush() } next }
{ print }
END { exit failed }
