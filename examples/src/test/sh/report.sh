#!/bin/sh
# Standard input has the job's parameters, such as {"month":"2026-05"}.
month=$(sed 's/.*"month":"\([^"]*\)".*/\1/')
echo "50 counting" >"$MILLRACE_PROGRESS_FILE"
echo "Report of $month, attempt $MILLRACE_ATTEMPT"
echo '{"orders": 7}' >"$MILLRACE_RESULT_FILE"
