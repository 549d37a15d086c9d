import type { IncomingMessage } from "node:http";
import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import type { Turns, WorkMeter } from "@svc/core";
import { BodyLimit, body_limit } from "@svc/gen/options";
import { BodyError, free, readBody } from "../body/body.ts";
import type { BodyCharge } from "../body/body-budget.ts";
import { chargeValues, chargeValuesInTurns } from "../body/body-values.ts";
import { decodeBody, type Encoding, encodingOf } from "../body/content-encoding.ts";
import { bodyFault, type Intake, keylessBodyBytesMax, pauseBeforeRefusal, shareOf } from "../body/intake.ts";
import { callerGone } from "../errors.ts";
import { lineOf } from "./answers.ts";
import type { Call } from "./call.ts";
import { toConnectError } from "./connect-error.ts";

/** True if a request is JSON, or a stream with JSON messages. */
function isJson({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /^application\/(?:connect\+)?json\b/.test(headers["content-type"] ?? "");
}

/**
 * Maximum body in bytes of a call whose request contains a whole document, such as a program: 16 MiB for the document, and 1 MiB for the
 * rest.
 */
const documentBytesMax = 16_777_216 + 1_048_576;

/**
 * Returns the maximum body of a method's requests in bytes, as the contract declares it. `bodyBytesMax`: the maximum for methods that
 * declare none.
 */
export function bodyLimitOf(method: DescMethod, bodyBytesMax: number): number {
  const isDocument = hasOption(method, body_limit) && getOption(method, body_limit) === BodyLimit.DOCUMENT;
  return isDocument ? Math.max(documentBytesMax, bodyBytesMax) : bodyBytesMax;
}

/** Dependencies of reading a body. */
export type CallBodyOptions = {
  readonly intake: Intake;
  readonly meter: Pick<WorkMeter, "turns">;
};

/** The body of one call. Its memory counts in the budget for bodies from its first byte until the body is released. */
export class CallBody {
  /** The bytes of the body. Undefined before they are read, and after they are released. */
  bytes: Buffer | undefined;
  /** True if the body was refused because the node had no memory for it. */
  isRefused = false;
  readonly #req: IncomingMessage;
  readonly #call: Call;
  readonly #intake: Intake;
  readonly #turns: Turns;
  readonly #bytesMax: number;
  #charge: BodyCharge | undefined;

  constructor(req: IncomingMessage, call: Call, bodyBytesMax: number, { intake, meter }: CallBodyOptions) {
    this.#req = req;
    this.#call = call;
    this.#intake = intake;
    this.#turns = meter.turns;
    this.#bytesMax = bodyBytesMax;
  }

  /** Maximum size of the body, in bytes. It is smaller for a call that needs no key. */
  get bytesMax(): number {
    return this.#call.principal === undefined ? keylessBodyBytesMax : this.#bytesMax;
  }

  /**
   * Returns the whole body, decompressed. Reads it only once. Rejects with Connect's error type, because Connect reads the body outside of
   * every interceptor.
   */
  async read(): Promise<Buffer> {
    const { principal } = this.#call;
    if (principal !== undefined) this.#intake.noteKey(this.#req);
    this.#charge = this.#intake.charge(this.#req, shareOf(principal));
    try {
      const sent = await readBody(this.#req, this.bytesMax, this.#charge);
      const encoding = encodingOf(this.#req);
      this.bytes = encoding === undefined ? sent : await this.#decode(encoding, sent, this.#charge);
      return this.bytes;
    } catch (error) {
      await pauseBeforeRefusal(error);
      throw this.#refusal(error);
    }
  }

  /**
   * Charges the memory budget for the values that were parsed from the body. The charge ends when the body is released. Throws the same
   * errors as `read`.
   */
  chargeValues(): void {
    try {
      if (this.bytes !== undefined && this.#charge !== undefined) chargeValues(this.bytes, this.#charge);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /**
   * Does the same as `chargeValues` for a large body. Between pieces of the body it awaits `rest`, so that other work can run. Throws
   * `callerGone` if the client has disconnected in the meantime.
   */
  async chargeValuesInTurns(rest: () => Promise<void> | undefined): Promise<void> {
    try {
      if (this.bytes !== undefined && this.#charge !== undefined)
        await chargeValuesInTurns(this.bytes, this.#charge, async () => {
          await rest();
          this.checkKept();
        });
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Throws `callerGone` if the body was released while its decoding waited, because the client has disconnected. */
  checkKept(): void {
    if (this.bytes === undefined) throw toConnectError(callerGone());
  }

  /**
   * Returns the decompressed body. The decompression waits until the event loop has time for the caller's project. Otherwise, many small
   * bodies that svc refuses afterwards could occupy the whole node.
   */
  async #decode(encoding: Encoding, sent: Buffer, charge: BodyCharge): Promise<Buffer> {
    await this.#turns.next(lineOf(this.#call.principal));
    return decodeBody(encoding, sent, { bytesMax: this.bytesMax, charge });
  }

  #refusal(error: unknown): unknown {
    if (!(error instanceof BodyError)) return error;
    this.isRefused = error.reason === "no_room";
    return toConnectError(bodyFault(error, this.bytesMax));
  }

  /** Ends the charge of the body to the memory budget, because the body is decoded or no longer needed. */
  letGo(): void {
    // Values parsed from JSON do not use the bytes of the body, so these are freed. A message in the binary form may use them, so its bytes
    // are not freed here.
    if (this.bytes !== undefined && isJson(this.#req)) free(this.bytes);
    this.bytes = undefined;
    this.#charge?.release();
  }
}
