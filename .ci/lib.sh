# Sourced by the legs: strict mode, the project's root as working directory, and what several of them need.
[[ "${BASH_VERSINFO[0]}" -ge 4 ]] || { echo "This takes bash 4 or newer, and is run by ${BASH_VERSION}." >&2; exit 1; }
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# A container engine may or may not be there; CI always tests on the same server, but for the leg about containers.
export MILLRACE_DEVDB="${MILLRACE_DEVDB:-embedded}"

# Ends a leg that can't run on this machine, with the reason: the rest goes on.
skip() {
  echo "skipped: $1"
  [[ -z "${CI_SKIPPED:-}" ]] || echo "$1" >"$CI_SKIPPED"
  exit 0
}

# Fails unless the file has a line like that.
expect() {
  grep -Eq -- "$2" "$1" || { echo "$1 has no line like: $2" >&2; return 1; }
}

# The README's n-th shell block, which is one command.
readme_command() {
  awk -v n="$1" '$0 == "```sh" { inside = ++block == n; next } /^```/ { inside = 0 } inside' README.md
}

# The home of a JDK of that feature version, or nothing.
jdk_home() {
  local version="$1" home
  local named="JAVA_HOME_${version}" named_by_runner="JAVA_HOME_${version}_X64"
  for home in "${!named:-}" "${!named_by_runner:-}" /usr/lib/jvm/*"${version}"*; do
    if [[ -n "$home" && -x "$home/bin/javac" ]] && grep -Eq "^JAVA_VERSION=\"${version}[.\"]" "$home/release"; then
      echo "$home"
      return
    fi
  done
}

# The version of the project; that of bom/pom.xml, which has no parent, is compared with it by the release leg.
project_version() {
  sed -n '/<artifactId>millrace-parent</{n;s:.*<version>\(.*\)</version>.*:\1:p;q;}' pom.xml
}

# The folders of the modules that are published: all that don't say maven.deploy.skip.
published_modules() {
  grep -L '<maven.deploy.skip>true<' */pom.xml | xargs -n 1 dirname
}

# What legs other than verify give to Maven: there the tests about sizes and plans are run, and those that go on for a
# while go on for longer. Plans are also looked at on other versions of PostgreSQL, by the leg postgres. Another server also plans in another way, so the legs about that leave out the sizes only.
smaller=("-DexcludedGroups=size,plans" "-Dmillrace.soak=10s")

# Runs tests by ./mvnw, with the arguments after the first, in the JVM of MILLRACE_CI_JVM and with the Maven
# profile of MILLRACE_CI_PROFILE, if a leg has set these. Fails
# unless the report of every test class has a line like the first: reports list the properties of the JVM, so that a leg
# can't test something else than it says.
test_on() {
  local evidence="$1" reports without
  shift
  rm -rf ./*/target/surefire-reports
  ./mvnw -B test "${smaller[@]}" ${MILLRACE_CI_JVM:+"-Djvm=$MILLRACE_CI_JVM"} \
    ${MILLRACE_CI_PROFILE:+"-P$MILLRACE_CI_PROFILE"} "$@"
  reports=(./*/target/surefire-reports/TEST-*.xml)
  [[ -e "${reports[0]}" && -d src/target/surefire-reports ]] || { echo "No tests have run." >&2; return 1; }
  without="$(grep -LE -- "$evidence" "${reports[@]}" || true)"
  [[ -z "$without" ]] || { printf 'Not run on %s:\n%s\n' "$evidence" "$without" >&2; return 1; }
  echo "${#reports[@]} test classes ran on $evidence"
}
