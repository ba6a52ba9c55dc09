#!/bin/sh
# npm 11.19.1: `npm publish --dry-run` of a package that is `private`.
# Guess: a refusal and exit status 1, as without `--dry-run`, so a release check finds the mistake.
# Behaviour: exit status 0, and the line "+ NAME@VERSION" of a success. In a workspace it is only a warning that the
#   package is skipped. Without `--dry-run` npm refuses.
# Seen with Node 20.20.2: dry run "+ example-private@1.0.0", status 0; workspace: status 0; real: refused, status 1.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix tool npm@11.19.1
npm="$dir/tool/node_modules/.bin/npm"
mkdir package
cd package
echo '{ "name": "example-private", "version": "1.0.0", "private": true }' > package.json

# Nobody listens there, so nothing can be published; npm wants some token before it looks at the package.
printf 'registry=http://127.0.0.1:9\nfetch-retries=0\n//127.0.0.1:9/:_authToken=none\n' > .npmrc
status=0
"$npm" publish --dry-run > out.txt 2> err.txt || status=$?
echo "dry run: status $status, $(cat out.txt)"
test "$status" = 0
grep -q '^+ example-private@1.0.0$' out.txt

status=0
"$npm" publish > out.txt 2> err.txt || status=$?
echo "real: status $status, $(grep -o "This package.*" err.txt)"
test "$status" = 1
grep -q "This package has been marked as private" err.txt

cp .npmrc ..
cd ..
echo '{ "name": "project", "version": "1.0.0", "workspaces": ["package"] }' > package.json
status=0
"$npm" publish --dry-run --workspaces > out.txt 2> err.txt || status=$?
echo "workspace: status $status, $(grep -o 'Skipping workspace.*' err.txt)"
test "$status" = 0
