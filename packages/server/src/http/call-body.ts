import type { IncomingMessage } from "node:http";
import type { Call } from "../calls/call.ts";
import { toConnectError } from "../calls/connect-error.ts";
import { BodyError, readBody } from "./body.ts";
import type { BodyCharge } from "./body-budget.ts";
import { chargeValues } from "./body-values.ts";
import { codecOf, decode } from "./content-encoding.ts";
import { bodyFault, type Intake, keylessBodyBytesMax, shareOf } from "./intake.ts";

/** The body of one call, charged from its first byte until it is let go of. */
export class CallBody {
  /** What was read; undefined before that, and once it is let go of. */
  bytes: Buffer | undefined;
  /** Whether the node had no room for it. */
  isRefused = false;
  readonly #req: IncomingMessage;
  readonly #call: Call;
  readonly #intake: Intake;
  readonly #bytesMax: number;
  #charge: BodyCharge | undefined;

  constructor(req: IncomingMessage, call: Call, { intake, bodyBytesMax }: { intake: Intake; bodyBytesMax: number }) {
    this.#req = req;
    this.#call = call;
    this.#intake = intake;
    this.#bytesMax = bodyBytesMax;
  }

  /** Its largest size: a call whose caller is not known by now needs no key. */
  get bytesMax(): number {
    return this.#call.principal === undefined ? keylessBodyBytesMax : this.#bytesMax;
  }

  /**
   * Reads it whole, once, and as it was before it was compressed. What is made of its values is charged as well, until it is let go of.
   * Rejects with Connect's error of the fault: Connect asks for it, outside of every interceptor.
   */
  async read(): Promise<Buffer> {
    const { principal } = this.#call;
    if (principal !== undefined) this.#intake.noteKey(this.#req);
    this.#charge = this.#intake.charge(this.#req, shareOf(principal));
    try {
      const sent = await readBody(this.#req, this.bytesMax, this.#charge);
      const codec = codecOf(this.#req);
      this.bytes =
        codec === undefined ? sent : await decode(codec, sent, { bytesMax: this.bytesMax, charge: this.#charge });
      chargeValues(this.bytes, this.#charge);
      return this.bytes;
    } catch (error) {
      if (!(error instanceof BodyError)) throw error;
      this.isRefused = error.reason === "no_room";
      throw toConnectError(bodyFault(error, this.bytesMax));
    }
  }

  /** Ends its charge: it is decoded, or nobody needs it any more. */
  letGo(): void {
    this.bytes = undefined;
    this.#charge?.release();
  }
}
