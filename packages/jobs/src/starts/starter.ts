import { createHash } from "node:crypto";
import { Fault, type Id, type KeyId, type ProjectId, type Role, type Sealer } from "@svc/core";
import { type EstimateDocument, type Executor, type NewJob, putJobProgram } from "@svc/db";
import type { JsonObject, Program, ProgramFault } from "@svc/program";
import { pinsText } from "@svc/program";
import { checkApproval } from "../api/approval.ts";
import { checkForProject } from "../api/check.ts";
import type { JobsContext } from "../api/context.ts";
import { newJob, type StandingOrigin } from "../drive/new-jobs.ts";
import { sealProgram } from "../drive/stored-program.ts";

/** A program that was checked to be started again and again. */
export type StartableProgram = {
  readonly program: Program;
  readonly programHash: string;
  readonly estimate: EstimateDocument;
  /** Whether each of its jobs waits for approval first. */
  readonly needsApproval: boolean;
  readonly programJson: string;
  /** The pinned definitions as JSON text. */
  readonly pins: string;
};

/** Whose program is checked: as SubmitJob would, were it submitted. */
export type StartCheck = { readonly projectId: ProjectId; readonly role: Role; readonly programJson: string };

/** What a check found: the program, its faults, or that its plan needs an approval that it could never get. */
export type CheckedStart =
  | StartableProgram
  | { readonly faults: readonly ProgramFault[]; readonly omitted: number }
  | { readonly refusal: Fault };

/** One start of a program that is kept. */
export type Start = {
  readonly id: Id<"job">;
  readonly projectId: ProjectId;
  readonly keyId: KeyId;
  readonly principalChain: readonly string[];
  readonly program: Program;
  readonly programHash: string;
  readonly digest: Buffer;
  readonly estimate: EstimateDocument;
  readonly needsApproval: boolean;
  /** Undefined for the program's own. */
  readonly input: JsonObject | undefined;
  readonly standing: StandingOrigin;
  readonly nowMs: number;
};

/** What starts jobs of programs that stand: it makes them, and who started them stores them in a transaction of its own. */
export type JobStarter = {
  check(asked: StartCheck): Promise<CheckedStart>;
  /** Stores a program for its later starts, and answers by which digest they find it. */
  keep(tx: Executor, projectId: ProjectId, program: StartableProgram): Promise<Buffer>;
  /** Makes the job of one start; nothing is stored. */
  make(tx: Executor, start: Start): Promise<NewJob>;
  /** Has the engine of this node look for jobs that were stored. */
  wake(): void;
  /** Tells a driver on this node that its job is to be cancelled, as the store says already. */
  cancel(jobId: Id<"job">): void;
};

/** What the starter works with. */
export type StarterContext = Pick<JobsContext, "db" | "views" | "accounts" | "asks" | "engine"> & {
  readonly sealer: Sealer;
};

/** Makes what starts jobs of programs that stand. */
export function createJobStarter(context: StarterContext): JobStarter {
  const { sealer, asks, engine } = context;
  return {
    check: (asked) => check(context, asked),
    async keep(tx, projectId, { programJson, programHash, pins }) {
      const digest = createHash("sha256")
        .update(JSON.stringify([programJson, pins]))
        .digest();
      const sealedProgram = sealProgram(sealer, { projectId, programDigest: digest }, programJson);
      await putJobProgram(tx, { projectId, digest, program: null, sealedProgram, programHash, pins });
      return digest;
    },
    make: (tx, start) =>
      newJob(
        { db: tx, sealer, asks },
        {
          ...start,
          mode: "live",
          simulateFirst: false,
          skillSlug: "",
          idempotencyKey: undefined,
          contentDigest: noContent,
        },
      ),
    wake: () => engine.wake(),
    cancel: (jobId) => engine.cancel(jobId),
  };
}

/** No idempotency key is bound to a start. */
const noContent = Buffer.alloc(0);

async function check(context: StarterContext, { projectId, role, programJson }: StartCheck): Promise<CheckedStart> {
  const checked = await checkForProject(context, { projectId, programJson, isStored: false });
  if ("faults" in checked) return checked;
  const { program, programHash, estimate, pins } = checked;
  const needsApproval = await checkApproval(context.db, { projectId, role }, { program, estimate });
  if (needsApproval instanceof Fault) return { refusal: needsApproval };
  return { program, programHash, estimate, needsApproval, programJson, pins: pinsText(pins) };
}
