import { runTestCommand } from "@svc/cli/test-command";
import { until } from "@svc/testing/until";
import { createMask } from "./mask.ts";

/** A command that a transcript ran. */
export type Ran = { readonly argv: readonly string[]; readonly code: number };

/**
 * Runs the commands of a transcript again. Returns the transcript as it is now, and what each command ended with. Its lines:
 * `$ NAME=value svc words 'more words' <<< input` runs a command; indented lines below it are its output, `!` marks what it noted, `=`
 * how it ended if not with 0. `? svc words ~ pattern` repeats a command until its output fits. `#` begins a remark.
 * `$NAME` is one of the variables, and `job_1` the first id of a job in the transcript.
 */
export async function replay(
  transcript: string,
  variables: Readonly<Record<string, string>>,
): Promise<{ text: string; ran: Ran[] }> {
  const mask = createMask(variables);
  const ran: Ran[] = [];
  const lines: string[] = [];
  for (const line of transcript.split("\n").filter((line) => /^[#$?]/.test(line))) {
    lines.push(line);
    if (line.startsWith("#")) continue;
    const [, command = "", pattern] = /^. (.+?)(?: ~ (.+))?$/.exec(line) ?? [];
    const run = () => runLine(mask.resolve(command), variables);
    if (pattern !== undefined) {
      await untilFits(run, new RegExp(pattern));
      continue;
    }
    const { argv, code, printed, noted } = await run();
    ran.push({ argv, code });
    lines.push(
      ...mask.apply(printed).map((text) => (text === "" ? "" : `  ${text}`)),
      ...mask.apply(noted).map((text) => `! ${text}`),
      ...(code === 0 ? [] : [`= ${code}`]),
    );
  }
  return { text: `${lines.join("\n")}\n`, ran };
}

async function untilFits(run: () => ReturnType<typeof runLine>, pattern: RegExp): Promise<void> {
  let text = "";
  const fits = async () => {
    text = (await run()).printed.join("\n");
    return pattern.test(text);
  };
  await until(fits, `${pattern}`, 40_000).catch((error: unknown) => {
    throw new Error(`nothing fits ${pattern} in ${text}`, { cause: error });
  });
}

async function runLine(line: string, variables: Readonly<Record<string, string>>) {
  const [typed = "", input] = line.split(" <<< ");
  const words = typed.match(/(?:'[^']*'|[^\s'])+/g)?.map((word) => word.replaceAll("'", "")) ?? [];
  const at = words.indexOf("svc");
  const given = words.slice(0, at).map((word) => [word.split("=", 1)[0], word.slice(word.indexOf("=") + 1)]);
  const argv = words.slice(at + 1);
  return { argv, ...(await runTestCommand(argv, { ...variables, ...Object.fromEntries(given) }, input)) };
}
