# Completion of svc for fish. Load it with: svc completion fish | source
function __svc_words
    switch $argv[1]
#words
        case '*'
            return 1
    end
end

function __svc_complete
    set -l given (commandline -opc)
    set -l current (commandline -ct)
    set -l at svc
    set -l option ''
    for word in $given[2..-1]
        if test -n "$option"
            set option ''
        else if __svc_words "$at $word" >/dev/null
            if string match -q -- '-*' $word
                set option $word
            else
                set at "$at $word"
            end
        end
    end
    set -l found (__svc_words (string trim -- "$at $option") | string split -n ' ')
    # Options are offered only after a dash.
    if not string match -q -- '-*' "$current"
        set found (string match -v -- '-*' $found)
    end
    if set -q found[1]
        printf '%s\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c svc -f -a '(__svc_complete)'
