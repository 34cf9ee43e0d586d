#!/bin/sh
# Runs a compiler that makes a precompiled header, without the one from before.
#
#   compile_afresh.sh COMMAND...
#
# ccache asks the preprocessor what a header consists of. If an old precompiled header is there, the
# answer names that instead of the sources, so that ccache takes them for unchanged. Nor may ccache go by
# what the preprocessor leaves of them: the compiler compares the headers themselves with those that it
# made it of, comments included. CCACHE_DEPEND makes ccache compare them, too.
for word in "$@"; do
  case "$word" in
    *.gch) rm -f "$word" ;;
  esac
done
export CCACHE_DEPEND=1
exec "$@"
