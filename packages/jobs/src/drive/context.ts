import type { AskPort } from "@svc/asks";
import type { AtOnce, Batcher, Clock, Id, NodeId, Sealer, StandingProgramId, WorkMeter } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import type { ReceiptDocument } from "@svc/db/documents/jobs";
import type { JobWithSteps } from "@svc/db/jobs/load";
import type { JobStatus } from "@svc/db/schema/words";
import type { Evaluator } from "@svc/program";
import type { RetriedChild } from "../state/change.ts";
import type { JobState } from "../state/job.ts";
import type { EngineObserver, OnFaultPoint } from "./observer.ts";
import type { JobCalls } from "./run/calls.ts";
import type { ConfirmGate } from "./run/confirm-gate.ts";
import type { ProgramCache } from "./store/stored-program.ts";

/** Bounds of the engine; times in milliseconds. */
export type EngineLimits = {
  /** A lease lasts this long; a node that dies holds its jobs up for so long. Default 30 s. */
  readonly leaseMs: number;
  /** Pause between two looks for due tasks while nothing wakes the engine. Default 1 s. */
  readonly pollMs: number;
  /** Jobs driven at once on one node. Default 128. */
  readonly runsMax: number;
  /** A driver works this long at a stretch while others wait. Default 1 s. */
  readonly sliceMs: number;
  /** Longer waits give the job back instead of holding it. Default 2 s. */
  readonly patienceMs: number;
  /** How soon a call that may still run on a lost node is asked for again. Default 2 s. */
  readonly inDoubtPollMs: number;
  /** Tries of an undo call. Default 3. */
  readonly undoTries: number;
  /** Wait before the second try of an undo call, doubled for every further one. Default 1 s. */
  readonly undoBackoffMs: number;
  /** Leases of a job in a row that may run out before it gets on; at the last the job is parked. Default 3. */
  readonly lossesMax: number;
  /** How often a job may hold a node's event loop; at the last time it is parked. Default 2. */
  readonly loopHoldsMax: number;
};

/** How a rehearsal ended. */
export type EndedRehearsal = {
  readonly jobId: Id<"job">;
  readonly programId: StandingProgramId;
  readonly status: JobStatus;
  readonly planApprovalId: string;
  /** Why it failed; empty where people decided. */
  readonly lastError: string;
};

/** Does what is to be committed with the end of a rehearsal. The job's row is locked by then. */
export type OnRehearsed = (tx: Executor, ended: EndedRehearsal) => Promise<void>;

/** What driving jobs works with. */
export type EngineContext = {
  readonly db: Database;
  /** Reads jobs for their drivers: those that were claimed together are read together. */
  readonly jobs: Batcher<Id<"job">, JobWithSteps | undefined>;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Pages of rows that drivers read and commit, so many at once: what else asks the store does not stand behind them. */
  readonly rowStatements: AtOnce;
  /** Calls tools for jobs. */
  readonly calls: JobCalls;
  /** Calls tools for a job that no lease was lost of: none of its calls was made before. */
  readonly firstCalls: JobCalls;
  /** Decides which calls of jobs a person confirms. */
  readonly confirms: ConfirmGate;
  readonly asks: AskPort;
  readonly nodeId: NodeId;
  readonly limits: EngineLimits;
  readonly programs: ProgramCache;
  /** Evaluates the expressions of programs. */
  readonly evaluator: Evaluator;
  /** Meters what drivers do, by job. */
  readonly meter: WorkMeter;
  readonly observer: EngineObserver;
  /** Told that a job has another status, so that who watches it looks. */
  readonly onMoved: ((jobId: Id<"job">) => void) | undefined;
  /** Told, in the transaction of its end, that a rehearsal has ended: people have decided, or will not. */
  readonly onRehearsed: OnRehearsed | undefined;
  /**
   * Takes a job on that ran a skill for another, in the transaction of a commit of that one, which waits for it. Where that cannot be any
   * more, that one is woken, and finds it as it ended.
   */
  readonly retryChild: (tx: Executor, parent: JobState, child: RetriedChild) => Promise<void>;
  /** Why a job that ended cannot be taken on where it stopped, by whoever runs it; undefined where it can. */
  readonly whyNotTakenOn: (db: Executor, jobId: Id<"job">) => Promise<string | undefined>;
  /** For tests: comes to a fault point. */
  readonly onFaultPoint: OnFaultPoint | undefined;
  /** The receiptHash of a receipt whose receiptHash is empty. */
  readonly hashReceipt: (receipt: ReceiptDocument) => string;
  /** Told that work of another job, or a follow-up of this one, is due; where it is not yet, when. Epoch milliseconds. */
  readonly onDue: (atMs?: number) => void;
};
