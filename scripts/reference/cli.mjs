// Writes docs/reference/cli: a page for each topic of the command line, or for each command if the topic has many.
import { blocks, kebab, page, plain, table } from "./write.mjs";

const linesMax = 250;
const folder = "docs/reference/cli";
/** Options that all commands have. They are shown only on the first page. */
const shared = ["--url <url>", "--api-key <key>", "--admin-token <token>", "-h, --help"];

/** Returns the pages of the command line as text, by path. They are made from the help of its commands. */
export function writeCli(commands) {
  const pages = commands.flatMap((command) => pagesOf(command));
  return new Map([[`${folder}/index.md`, indexPage(commands)], ...pages]);
}

function pagesOf(command) {
  const whole = topicPage(command);
  if (whole.split("\n").length <= linesMax) return [[`${folder}/${kebab(command.name)}.md`, whole]];
  const place = `${folder}/${kebab(command.name)}`;
  const rows = command.members.map((member) => [`[svc ${member.name}](${lastOf(member)}.md)`, plain(member.says)]);
  return [
    [
      `${place}/index.md`,
      page(`# svc ${command.name}`, sentence(command.says), table(["command", "what it does"], rows), notesOf(command)),
    ],
    ...command.members.map((member) => [`${place}/${lastOf(member)}.md`, page(`# svc ${member.name}`, bodyOf(member))]),
  ];
}

function topicPage(command) {
  if (command.members.length === 0) return page(`# svc ${command.name}`, bodyOf(command));
  return page(
    `# svc ${command.name}`,
    sentence(command.says),
    command.members.map((member) => blocks(`## svc ${member.name}`, bodyOf(member))),
  );
}

function lastOf({ name }) {
  return name.split(" ").at(-1);
}

function bodyOf(command) {
  const own = command.options.filter(({ term }) => !shared.includes(term));
  return blocks(
    sentence(command.says),
    command.aliases.length === 0 ? undefined : `Also: \`svc ${command.aliases.join("`, `svc ")}\`.`,
    `\`\`\`text\n${command.usage}\n\`\`\``,
    terms("argument", command.arguments),
    terms("option", own),
    notesOf(command),
  );
}

function terms(head, all) {
  return all.length === 0
    ? undefined
    : table(
        [head, "meaning"],
        all.map(({ term, says }) => [`\`${term}\``, plain(says)]),
      );
}

/**
 * Returns the part after the options of a help: notes as they are printed, and examples. `svc serve` prints its configuration there, which
 * has a page of its own.
 */
function notesOf({ name, more }) {
  const [notes = "", examples = ""] = more.split(/^Examples:\n/m);
  const lines = examples.split("\n").map((line) => line.slice(2));
  const said =
    name === "serve"
      ? "The environment variables that it reads: [configuration](../configuration.md)."
      : plain(notes.trim());
  return blocks(said, examples === "" ? undefined : `\`\`\`sh\n${lines.join("\n").trim()}\n\`\`\``);
}

function sentence(text) {
  const upper = `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
  return plain(/[.!?]$/.test(upper) ? upper : `${upper}.`);
}

function indexPage(commands) {
  const rows = commands.map((command) => {
    const isSplit = topicPage(command).split("\n").length > linesMax && command.members.length > 0;
    return [`[svc ${command.name}](${kebab(command.name)}${isSplit ? "/index" : ""}.md)`, plain(command.says)];
  });
  const found = commands.flatMap((command) => [command, ...command.members]).flatMap(({ options }) => options);
  const options = shared.flatMap((term) => found.find((option) => option.term === term) ?? []);
  return page(
    "# Command line",
    "Every command of `svc`, with its arguments, its options and examples. `svc <command> --help` prints the same.",
    "```sh\nsvc whoami\n```",
    "In a checkout, write `npx svc` for `svc`.",
    table(["command", "what it does"], rows),
    "## Options of every command",
    terms("option", options),
    "Exit status, `--json` and other conventions: [calls and commands](../calls-and-commands.md#conventions).",
  );
}
