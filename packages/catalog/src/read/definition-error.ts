/** Where in a file a fault lies: keys and list indexes from its root. */
export type FaultPath = readonly (string | number)[];

/** One thing wrong with a definition or deployment file, and what would be right. `line` counts from 1. */
export type DefinitionFault = {
  readonly file: string;
  readonly line?: number;
  readonly path: string;
  readonly reason: string;
  readonly cure: string;
};

/** Definitions that cannot be served. `faults` holds everything that was wrong, in file order; the message lists it. */
export class DefinitionError extends Error {
  readonly faults: readonly DefinitionFault[];

  constructor(faults: readonly DefinitionFault[]) {
    const count = faults.length === 1 ? "1 fault" : `${faults.length} faults`;
    super(`${count} in the definitions:\n${faults.map((fault) => `  ${definitionFaultText(fault)}`).join("\n")}`);
    this.name = "DefinitionError";
    this.faults = faults;
  }
}

/** One fault as a line: where, what, and what would be right. */
export function definitionFaultText({ file, line, path, reason, cure }: DefinitionFault): string {
  const place = line === undefined ? file : `${file}:${line}`;
  return `${place}${path === "" ? "" : ` ${path}`}: ${reason}; ${cure}`;
}
