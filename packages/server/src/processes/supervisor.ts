import type { Clock } from "@svc/core";
import type { DestinationStream } from "pino";
import { configOfProcess } from "../config/config.ts";
import type { Config } from "../config/settings.ts";
import type { SharedPorts } from "../listen/listeners.ts";
import type { Logger } from "../logger.ts";
import type { PreparedStore } from "../start/prepare.ts";
import type { HeldStore } from "../start/store.ts";
import type { ProcessAddresses, ProcessMessage } from "./messages.ts";
import { createMetricsSum, type MetricsSum } from "./metrics-sum.ts";
import { type OneProcess, type ProcessEnd, type ProcessProgram, startProcess } from "./one-process.ts";
import { findPorts } from "./ports.ts";

/** The processes of one service, as its supervisor manages them. */
export type Supervisor = {
  /** Resolves when all processes listen. If one process cannot start, ends all processes and rejects. */
  readonly ready: Promise<ProcessAddresses>;
  /** Asks each process to read its environment file (SVC_ENV_FILE) and its TLS certificate again. */
  reload(): void;
  /**
   * Requests that each process finishes its work and ends. Kills processes that still run after `withinMs` milliseconds. Resolves with true
   * if all ended cleanly.
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
  /** Stream for the log lines of the processes. */
  readonly output: DestinationStream;
};

/** Error for a process that could not start. An operator can correct the cause. */
export class ProcessRefusedError extends Error {}

/** Minimum and maximum delay, in milliseconds, before an ended process is restarted. The delay doubles after each restart. */
const [againMinMs, againMaxMs] = [100, 10_000];
/** Time in milliseconds for which a process must have been ready so that its restart delay returns to the minimum. */
const steadyMs = 60_000;
/** Maximum time in milliseconds for a process to answer with its metrics. */
const metricsMs = 2_000;

/** Starts the processes, and restarts each process that ends. */
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

  /** Runs the process with this number, and starts it again whenever it ends, until all processes must stop. */
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
      case "workDue":
        for (const other of this.#running.values()) if (other !== from) other.tell({ type: "workDue" });
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
    const { config, logger } = this.#options;
    const role = configOfProcess(config, number).processRole;
    logger.info({ pid, role }, `process ${number} of ${config.processes} is ready`);
    if (this.#isReady || this.#places.size < this.#options.config.processes) return;
    this.#isReady = true;
    this.#ready.resolve(places);
  }

  /**
   * Records that a process could not start. During the first start, the cause is the same for all processes, so the whole start fails with
   * this one message. Later, the cause may be a file that became invalid, such as the certificate. Then only this process is missing, and
   * the other processes continue.
   */
  #noteRefusal({ number }: OneProcess, message: string): void {
    if (this.#isReady) this.#options.logger.error(`process ${number} cannot start: ${message}`);
    else this.#fail(new ProcessRefusedError(message));
  }

  /** Handles a failed first start: ends all running processes. */
  #fail(error: unknown): void {
    this.#stopping.abort();
    this.#killAll();
    this.#ready.reject(error);
  }

  /** Returns the sum of the metrics of all processes. A process that does not answer in time counts with its last values. */
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

/**
 * True if a process ended cleanly. A process that was killed before it had a signal handler had no work to finish, so it counts as clean.
 */
function isClean({ code, signal }: ProcessEnd): boolean {
  return code === 0 || signal === "SIGTERM" || signal === "SIGINT";
}

function textOf({ code, signal }: ProcessEnd): string {
  return signal === null ? `exit status ${code}` : `${signal}`;
}
