# Completion of svc for bash. Load it with: source <(svc completion bash)
_svc_words() {
  case $1 in
#words
  *) return 1 ;;
  esac
}

_svc() {
  local current=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} at=svc word words i
  # bash splits --state=active into three words.
  if [[ $current == "=" ]]; then
    current=""
  elif [[ $last == "=" ]]; then
    last=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    _svc_words "$at $word" >/dev/null || continue
    if [[ $word == -* ]]; then i=$((i + 1)); else at="$at $word"; fi
  done
  if [[ $last != -* ]] || ! words=$(_svc_words "$at $last"); then
    words=" $(_svc_words "$at")"
    # The options follow the other words. They are offered only after a dash.
    if [[ $current != -* ]]; then words=${words%% -*}; fi
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
