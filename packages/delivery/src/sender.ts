import type { AddressGuard, Clock } from "@svc/core";
import { createGuardedAgent, type GuardedAgent } from "@svc/core/dial";
import type { Endpoint } from "./endpoint.ts";
import type { ResolvedLimits } from "./limits.ts";
import type { OutgoingDelivery } from "./outgoing.ts";
import { type Attempt, send } from "./send.ts";
import { headersFor } from "./sign.ts";

/** What is posted to an endpoint and is no delivery. */
export type Message = { readonly id: string; readonly body: string };

/** The connections of one node to endpoints, and what is under way on them. */
export class Sender {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #agent: GuardedAgent;
  /** By delivery as it was taken on: one claimed again while its old attempt goes on is another. */
  readonly #aborters = new Map<OutgoingDelivery, () => void>();

  constructor(options: { guard: AddressGuard; clock: Clock; limits: ResolvedLimits }) {
    const { attemptTimeoutMs, inFlightMax } = options.limits;
    this.#clock = options.clock;
    this.#timeoutMs = attemptTimeoutMs;
    this.#agent = createGuardedAgent({
      guard: options.guard,
      connections: inFlightMax,
      connectTimeoutMs: attemptTimeoutMs,
      // An attempt has a clock of its own, exact where undici's are not; these only clear away what it left behind.
      headersTimeoutMs: attemptTimeoutMs + 1_000,
      bodyTimeoutMs: attemptTimeoutMs + 1_000,
    });
  }

  /** Posts a delivery once, signed as of `startedAtMs`; resolves to how it went, or to an aborted attempt, and never rejects. */
  async send(delivery: OutgoingDelivery, startedAtMs: number): Promise<Attempt> {
    const { id, endpoint, messageId, body } = delivery;
    const headers = headersFor(endpoint, { delivery: id, message: messageId }, body, startedAtMs);
    const { origin, path } = endpoint;
    const request = { origin, path, headers, body, timeoutMs: this.#timeoutMs };
    const attempt = await send(this.#agent, request, (abort) => this.#aborters.set(delivery, abort));
    this.#aborters.delete(delivery);
    return attempt;
  }

  /** Posts what is no delivery, once and at once; resolves to how it went, within `timeoutMs`, and never rejects. */
  tell(endpoint: Endpoint, message: Message, timeoutMs: number): Promise<Attempt> {
    const body = Buffer.from(message.body, "utf8");
    const ids = { delivery: message.id, message: message.id };
    const headers = headersFor(endpoint, ids, body, this.#clock.now());
    return send(this.#agent, { origin: endpoint.origin, path: endpoint.path, headers, body, timeoutMs });
  }

  /** Breaks off every delivery that is under way. */
  abortAll(): void {
    for (const abort of [...this.#aborters.values()]) abort();
  }

  /** Closes every connection. */
  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
