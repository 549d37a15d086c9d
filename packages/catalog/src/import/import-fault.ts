import type { ImportFaultReason } from "../errors.ts";

/**
 * A refusal to import a document. `problem`: what is wrong, with the value. `advice`: what the caller can do. `field`: the wrong field of
 * the request; undefined if `reason` alone says which field it is.
 */
export type ImportFault = {
  readonly reason: ImportFaultReason;
  readonly problem: string;
  readonly advice: string;
  readonly field: string | undefined;
};

/** Error for a document that cannot become a toolkit (the tools of one app). */
export class ImportError extends Error {
  override name = "ImportError";
  readonly fault: ImportFault;

  constructor(reason: ImportFaultReason, problem: string, advice: string, field?: string) {
    super(`${problem}. ${advice}`);
    this.fault = { reason, problem, advice, field };
  }
}

/**
 * Error for a document whose authentication needs the metadata of an OpenID provider. The import runs in a thread that makes no requests,
 * so the caller must read the metadata and run the import again.
 */
export class OpenIdNeededError extends Error {
  override name = "OpenIdNeededError";
  readonly url: string;

  constructor(url: string) {
    super(`the OpenID metadata at ${url} is needed`);
    this.url = url;
  }
}

/** Error for an operation of an imported API that cannot become a tool. `message`: the reason in one word, such as `upload`. */
export class LeftOutError extends Error {
  override name = "LeftOutError";
}
