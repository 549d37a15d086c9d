/** Reason why a document cannot become a toolkit (the tools of one app). */
export type ImportFaultReason =
  | "SOURCE_INVALID"
  | "OPENAPI_UNREADABLE"
  | "OPENAPI_NOTHING_SELECTED"
  | "BASE_URL_NEEDED"
  | "TOOLKIT_TOO_LARGE"
  | "OVERRIDE_UNKNOWN"
  | "IMPORT_TOO_COSTLY";

/** A refusal to import a document. `problem`: what is wrong, with the value. `advice`: what the caller can do. */
export type ImportFault = { readonly reason: ImportFaultReason; readonly problem: string; readonly advice: string };

/** Error for a document that cannot become a toolkit (the tools of one app). */
export class ImportError extends Error {
  override name = "ImportError";
  readonly fault: ImportFault;

  constructor(reason: ImportFaultReason, problem: string, advice: string) {
    super(`${problem}. ${advice}`);
    this.fault = { reason, problem, advice };
  }
}

/** Error for an operation that does not become a tool. `message`: the reason in one word, such as `upload`. */
export class LeftOutError extends Error {
  override name = "LeftOutError";
}
