import { readFileSync } from "node:fs";
import { type Command, Help, type Option } from "commander";
import { type CommandMaker, command, type Run } from "../command/declared.ts";

/** Scripts that complete words for each shell. They lack the words, which come from the declarations of the commands. */
const scripts = {
  bash: new URL("./completion/svc.bash", import.meta.url),
  zsh: new URL("./completion/svc.zsh", import.meta.url),
  fish: new URL("./completion/svc.fish", import.meta.url),
} as const;

type Shell = keyof typeof scripts;

/** The command `svc completion`, which prints a script that completes commands, options and their values in a shell. */
export const addCompletionCommand: CommandMaker = (parent, context, name) =>
  command(
    undefined,
    {
      says: "print a script with which your shell completes commands, options and their values",
      takes: { "<shell>": ["the shell that reads the script", { choices: Object.keys(scripts) }] },
      client: "none",
      json: "the shell and the script as JSON",
      more: `
bash: source <(svc completion bash)                                     in ~/.bashrc
zsh:  source <(svc completion zsh)                                      in ~/.zshrc, after compinit
fish: svc completion fish > ~/.config/fish/completions/svc.fish         once`,
      examples: ["svc completion bash", "source <(svc completion bash)", "svc completion zsh"],
    },
    ({ values: { shell }, asJson }: Run<{ readonly shell: Shell }>) => {
      const script = scriptOf(shell, parent);
      context.print(asJson ? JSON.stringify({ shell, script }) : script.trimEnd());
    },
  )(parent, context, name);

function scriptOf(shell: Shell, program: Command): string {
  const cases = [...placesByWords(program)].map(([words, places]) => caseOf[shell](places.map(quote), quote(words)));
  return readFileSync(scripts[shell], "utf8").replace(/^#words$/m, () => cases.join("\n"));
}

const shellCase = (places: readonly string[], words: string) => `  ${places.join(" | ")}) echo ${words} ;;`;
const caseOf: Readonly<Record<Shell, (places: readonly string[], words: string) => string>> = {
  bash: shellCase,
  zsh: shellCase,
  fish: (places, words) => `        case ${places.join(" ")}\n            echo ${words}`,
};

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Returns the places at which something can be completed, by the words that are possible there. A place is a command (`svc jobs list`), or
 * an option with a value (`svc jobs list --status`). The words are empty if svc does not know the values.
 */
function placesByWords(program: Command): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const add = (place: string, words: readonly string[]) => {
    const text = words.join(" ");
    found.set(text, [...(found.get(text) ?? []), place]);
  };
  const visit = (made: Command, place: string) => {
    const options = [
      ...new Help().visibleOptions(made),
      ...(made === program ? [] : program.options.filter(takesValue)),
    ];
    const members = made.commands.map((member) => member.name());
    const choices = made.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
    add(place, [...members, ...choices, ...options.flatMap(({ long }) => long ?? [])]);
    for (const option of options.filter(takesValue)) add(`${place} ${option.long}`, option.argChoices ?? []);
    for (const member of made.commands)
      for (const name of [member.name(), ...member.aliases()]) visit(member, `${place} ${name}`);
  };
  visit(program, "svc");
  return found;
}

const takesValue = ({ required, optional }: Option) => required || optional;
