import { parse, YAMLParseError } from "yaml";

/**
 * Maximum number of aliases (references to an earlier value) that one YAML file may contain once all of them are resolved. Nested aliases
 * could otherwise fill the memory. The service has the same maximum.
 */
const maxAliasCount = 100;

/** Parses a YAML file and returns its value. Throws an Error that names the file and the line of the error. */
export function readYaml({ path, text }: { path: string; text: string }): unknown {
  try {
    return parse(text, { maxAliasCount, prettyErrors: true });
  } catch (error) {
    const line = error instanceof YAMLParseError ? `:${error.linePos?.[0].line ?? 1}` : "";
    const [what = "is not YAML"] = (error as Error).message.split(/ at line |\n/);
    throw new Error(`${path}${line}: ${what}`);
  }
}
