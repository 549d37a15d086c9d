/**
 * What is wrong with the text of an environment file, told by its line and never by its content; empty when nothing is. It takes what
 * node's parseEnv takes (comments, `export NAME=`, quoted values over several lines) and refuses what that would skip or cut in silence.
 */
export function faultsOfEnvFile(text: string): string[] {
  const lines = text.replaceAll("\r", "").split("\n");
  const faults: string[] = [];
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? "";
    if (/^[ \t]*(#|$)/.test(line)) continue;
    const value = /^[ \t]*(?:export[ \t]+)?[A-Za-z_]\w*[ \t]*=(.*)$/.exec(line)?.[1];
    const number = index + 1;
    if (value === undefined) {
      faults.push(`line ${number} is not of the form NAME=value`);
      continue;
    }
    const quoted = quotedValue(value, lines.slice(number));
    const fault = quoted === undefined ? faultOfPlain(value) : quoted.fault;
    if (fault !== "") faults.push(`line ${number} ${fault}`);
    index += quoted?.furtherLines ?? 0;
  }
  return faults;
}

/** Undefined when the value is not quoted. What follows an unclosed quote is judged line by line. */
function quotedValue(value: string, following: readonly string[]): { fault: string; furtherLines: number } | undefined {
  const [, quote] = /^[ \t]*(["'`])/.exec(value) ?? [];
  if (quote === undefined) return undefined;
  const first = value.trimStart().slice(1);
  const text = [first, ...following].join("\n");
  const end = text.indexOf(quote);
  if (end < 0) return { fault: "opens a quote that is not closed", furtherLines: 0 };
  const furtherLines = text.slice(0, end).split("\n").length - 1;
  const [rest = ""] = text.slice(end + 1).split("\n");
  return { fault: /^[ \t]*(#.*)?$/.test(rest) ? "" : "has text after the closing quote", furtherLines };
}

function faultOfPlain(value: string): string {
  // parseEnv takes the next line for the value.
  if (/^[ \t]+$/.test(value)) return "has nothing but blanks for a value; end it after the =";
  // parseEnv cuts the value there.
  if (/^[^#]*[^\s#]#/.test(value)) return "has a # within its value; put the value in quotes";
  return /["'`]\s*(\s#.*)?$/.test(value.replace(/\s#.*$/, "")) ? "closes a quote that was not opened" : "";
}
