import type { Clock } from "@svc/core";
import type { DestinationStream } from "pino";
import type { Config } from "../config/config.ts";
import type { SharedPorts } from "../listen/listeners.ts";
import type { Logger } from "../logger.ts";
import type { PreparedStore } from "../start/prepare.ts";
import type { HeldStore } from "../start/store.ts";
import type { ProcessAddresses, ProcessMessage } from "./messages.ts";
import { createMetricsSum, type MetricsSum } from "./metrics-sum.ts";
import { type OneProcess, type ProcessEnd, type ProcessProgram, startProcess } from "./one-process.ts";
import { findPorts } from "./ports.ts";

/** The processes of a service with several. */
export type Supervisor = {
  /** Resolves when all of them listen. If one cannot start, ends all and rejects. */
  readonly ready: Promise<ProcessAddresses>;
  /** Asks each process to read its files again. */
  reload(): void;
  /**
   * Asks each process to finish and end, and kills those that are still running after `withinMs`. Resolves with true if all ended cleanly.
   */
  stop(withinMs: number): Promise<boolean>;
};

/** Options for starting processes. */
export type SupervisorOptions = {
  readonly config: Config;
  readonly store: HeldStore;
  readonly prepared: PreparedStore;
  readonly program: ProcessProgram;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Destination of the processes' lines. */
  readonly output: DestinationStream;
};

/** A process that could not start, for a reason that an operator can correct. */
export class ProcessRefusedError extends Error {}

/** Minimum and maximum delay before an ended process is started again, milliseconds. It doubles each time. */
const [againMinMs, againMaxMs] = [100, 10_000];
/** A process that was ready for this long resets the delay, milliseconds. */
const steadyMs = 60_000;
/** Time for a process to answer with its metrics, milliseconds. */
const metricsMs = 2_000;

/** Starts the processes, and restarts each that ends. */
export function startSupervisor(options: SupervisorOptions): Supervisor {
  return new Processes(options).supervise();
}

class Processes {
  readonly #options: SupervisorOptions;
  readonly #running = new Map<number, OneProcess>();
  readonly #places = new Map<number, ProcessAddresses>();
  readonly #metrics: MetricsSum = createMetricsSum();
  readonly #answers = new Map<number, (number: number) => void>();
  readonly #stopping = new AbortController();
  readonly #ready = Promise.withResolvers<ProcessAddresses>();
  #isReady = false;
  #ports: Promise<SharedPorts> | undefined;
  #requests = 0;
  #isClean = true;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  supervise(): Supervisor {
    const numbers = Array.from({ length: this.#options.config.processes }, (_, index) => index + 1);
    const kept = Promise.all(numbers.map((number) => this.#keep(number)));
    return {
      ready: this.#ready.promise,
      reload: () => this.#tellAll({ type: "reload" }),
      stop: async (withinMs) => {
        this.#stopping.abort();
        this.#tellAll({ type: "stop" });
        const done = new AbortController();
        const late = this.#options.clock.wait(withinMs, done.signal).then(() => this.#killAll());
        await kept;
        done.abort();
        await late;
        return this.#isClean;
      },
    };
  }

  /** Keeps a process of that number running until all must stop. */
  async #keep(number: number): Promise<void> {
    const { clock, logger } = this.#options;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      const startedAt = clock.now();
      const end = await this.#run(number);
      if (this.#stopping.signal.aborted) {
        if (!isClean(end)) this.#isClean = false;
        return;
      }
      if (!this.#isReady) return this.#fail(new Error(`process ${number} ended before it was ready (${textOf(end)})`));
      failures = clock.now() - startedAt >= steadyMs ? 0 : failures + 1;
      const waitMs = Math.min(againMaxMs, againMinMs * 2 ** Math.max(0, failures - 1));
      logger.error(`process ${number} ended (${textOf(end)}); it is started again in ${waitMs} ms`);
      await clock.wait(waitMs, this.#stopping.signal);
    }
  }

  async #run(number: number): Promise<ProcessEnd> {
    const { program, output, store, prepared } = this.#options;
    const receive = (message: ProcessMessage) => void this.#receive(started, message);
    const started = startProcess(number, { program, output, receive });
    this.#running.set(number, started);
    const { url, isEmbedded } = store;
    const { audience } = prepared;
    started.tell({ type: "begin", store: { url, isEmbedded }, audience, isFirst: number === 1 && !this.#isReady });
    const end = await started.ended;
    this.#running.delete(number);
    this.#places.delete(number);
    await this.#metrics.forget(number);
    for (const answer of this.#answers.values()) answer(number);
    return end;
  }

  async #receive(from: OneProcess, message: ProcessMessage): Promise<void> {
    switch (message.type) {
      case "loaded":
        return this.#letListen(from);
      case "ready":
        return this.#noteReady(from, message);
      case "refused":
        return this.#noteRefusal(from, message.message);
      case "metricsRead":
        this.#metrics.note(from.number, message.values);
        this.#answers.get(message.request)?.(from.number);
        return;
      case "sumMetrics":
        return from.tell({ type: "metricsSummed", request: message.request, text: await this.#sumMetrics() });
    }
  }

  async #letListen(from: OneProcess): Promise<void> {
    this.#ports ??= findPorts(this.#options.config);
    try {
      from.tell({ type: "listen", ports: await this.#ports });
    } catch (error) {
      this.#fail(error);
    }
  }

  #noteReady({ number, pid }: OneProcess, { url, adminUrl, consoleUrl }: ProcessAddresses): void {
    const places = { url, adminUrl, consoleUrl };
    this.#places.set(number, places);
    this.#options.logger.info({ pid }, `process ${number} of ${this.#options.config.processes} is ready`);
    if (this.#isReady || this.#places.size < this.#options.config.processes) return;
    this.#isReady = true;
    this.#ready.resolve(places);
  }

  /**
   * At the start, all processes would report the same problem, so it is reported once. Later a file may have become invalid, and the other
   * processes continue.
   */
  #noteRefusal({ number }: OneProcess, message: string): void {
    if (this.#isReady) this.#options.logger.error(`process ${number} cannot start: ${message}`);
    else this.#fail(new ProcessRefusedError(message));
  }

  /** Handles a failed start: ends the running processes. */
  #fail(error: unknown): void {
    this.#stopping.abort();
    this.#killAll();
    this.#ready.reject(error);
  }

  /** Returns the sum of the metrics. A process that does not answer in time counts with its last values. */
  async #sumMetrics(): Promise<string> {
    this.#requests += 1;
    const request = this.#requests;
    const asked = new Set(this.#places.keys());
    const answered = Promise.withResolvers<void>();
    const noteAnswer = (number: number) => {
      asked.delete(number);
      if (asked.size === 0) answered.resolve();
    };
    this.#answers.set(request, noteAnswer);
    for (const number of asked) this.#running.get(number)?.tell({ type: "readMetrics", request });
    const done = new AbortController();
    await Promise.race([answered.promise, this.#options.clock.wait(metricsMs, done.signal)]);
    done.abort();
    this.#answers.delete(request);
    return this.#metrics.text();
  }

  #tellAll(message: { type: "reload" } | { type: "stop" }): void {
    for (const running of this.#running.values()) running.tell(message);
  }

  #killAll(): void {
    for (const running of this.#running.values()) running.kill();
  }
}

/** A process that had no signal handler yet had nothing to finish. */
function isClean({ code, signal }: ProcessEnd): boolean {
  return code === 0 || signal === "SIGTERM" || signal === "SIGINT";
}

function textOf({ code, signal }: ProcessEnd): string {
  return signal === null ? `exit status ${code}` : `${signal}`;
}
