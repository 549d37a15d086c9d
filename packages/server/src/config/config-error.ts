/** One variable that cannot be used: the message says its value (never a secret's) and what would be right. */
export type ConfigFault = { readonly variable: string; readonly message: string };

/** A configuration that cannot be run. `faults` holds everything that was wrong; the message lists it. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly faults: readonly ConfigFault[];

  constructor(faults: readonly ConfigFault[]) {
    super(
      `the configuration has ${faults.length === 1 ? "1 fault" : `${faults.length} faults`}:\n${faults.map(formatFault).join("\n")}`,
    );
    this.faults = faults;
  }
}

function formatFault({ variable, message }: ConfigFault): string {
  return `  ${variable}: ${message}`;
}
