import type { IncomingMessage } from "node:http";
import type { Turns, WorkMeter } from "@svc/core";
import { BodyError, free, readBody } from "../body/body.ts";
import type { BodyCharge } from "../body/body-budget.ts";
import { chargeValues } from "../body/body-values.ts";
import { decodeBody, type Encoding, encodingOf } from "../body/content-encoding.ts";
import { bodyFault, type Intake, keylessBodyBytesMax, pauseBeforeRefusal, shareOf } from "../body/intake.ts";
import { lineOf } from "./answers.ts";
import type { Call } from "./call.ts";
import { toConnectError } from "./connect-error.ts";

/** Whether a request is JSON, be it the message of a stream. */
function isJson({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return /^application\/(?:connect\+)?json\b/.test(headers["content-type"] ?? "");
}

/** What reading a body works with. */
export type CallBodyOptions = {
  readonly intake: Intake;
  readonly meter: Pick<WorkMeter, "turns">;
  readonly bodyBytesMax: number;
};

/** The body of one call, charged from its first byte until it is let go of. */
export class CallBody {
  /** What was read; undefined before that, and once it is let go of. */
  bytes: Buffer | undefined;
  /** Whether the node had no room for it. */
  isRefused = false;
  readonly #req: IncomingMessage;
  readonly #call: Call;
  readonly #intake: Intake;
  readonly #turns: Turns;
  readonly #bytesMax: number;
  #charge: BodyCharge | undefined;

  constructor(req: IncomingMessage, call: Call, { intake, meter, bodyBytesMax }: CallBodyOptions) {
    this.#req = req;
    this.#call = call;
    this.#intake = intake;
    this.#turns = meter.turns;
    this.#bytesMax = bodyBytesMax;
  }

  /** Its largest size: a call whose caller is not known by now needs no key. */
  get bytesMax(): number {
    return this.#call.principal === undefined ? keylessBodyBytesMax : this.#bytesMax;
  }

  /**
   * Reads it whole, once, and as it was before it was compressed. Rejects with Connect's error of the fault: Connect asks for it,
   * outside of every interceptor.
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

  /** Charges what will be made of its values, until it is let go of. Throws as `read` does. */
  chargeValues(): void {
    try {
      if (this.bytes !== undefined && this.#charge !== undefined) chargeValues(this.bytes, this.#charge);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** In its caller's turn: many that are a few bytes each, and refused, would otherwise be all that the node does. */
  async #decode(encoding: Encoding, sent: Buffer, charge: BodyCharge): Promise<Buffer> {
    await this.#turns.next(lineOf(this.#call.principal));
    return decodeBody(encoding, sent, { bytesMax: this.bytesMax, charge });
  }

  #refusal(error: unknown): unknown {
    if (!(error instanceof BodyError)) return error;
    this.isRefused = error.reason === "no_room";
    return toConnectError(bodyFault(error, this.bytesMax));
  }

  /** Ends its charge: it is decoded, or nobody needs it any more. */
  letGo(): void {
    // What JSON is parsed to has no part of it; a message in the binary form may.
    if (this.bytes !== undefined && isJson(this.#req)) free(this.bytes);
    this.bytes = undefined;
    this.#charge?.release();
  }
}
