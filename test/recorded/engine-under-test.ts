import type { Client } from "@connectrpc/connect";
import type { Catalog } from "@svc/catalog";
import type { AppTransport } from "@svc/connections";
import { type Clock, createSealer, type KeyId, type ProjectId, parseVaultKeys, type Role } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { ContactsService } from "@svc/gen/contacts";
import { JobsService } from "@svc/gen/jobs";
import { createTestNode } from "@svc/testing/node";
import type { CallReply } from "@svc/tools";

// The one place of these tests that knows how a node is put together as far as jobs go. What is recorded and what drives the
// recordings know of the engine what stands in `EngineUnderTest`, and nothing else.

/** What an engine is made on. */
export type EngineParts = {
  readonly db: Database;
  /** As SVC_VAULT_KEY takes it. */
  readonly vaultKey: string;
  readonly clock: Clock;
  readonly transport: AppTransport;
  /** What the project sees; jobs run on the definitions they are pinned to. */
  readonly catalog: Catalog;
  /** Told when a driver comes to a fault point; it goes on when that resolves. */
  readonly onFaultPoint?: (point: string, at: { readonly stepId: string }) => Promise<void> | void;
};

/** Whose key calls. */
export type EngineCaller = { readonly projectId: ProjectId; readonly keyId: KeyId; readonly role: Role };

/** Whether work is due, or held by a node; when the next of it is due, and when the first lease ends; undefined without one. */
export type Work = {
  readonly isBusy: boolean;
  readonly nextDueMs: number | undefined;
  readonly leaseEndsMs: number | undefined;
};

/** The engine of today with its services, as a node of its own. Disposing of it ends its work, and leaves the database open. */
export type EngineUnderTest = AsyncDisposable & {
  start(): void;
  /** Looks for due work now. */
  wake(): void;
  work(): Promise<Work>;
  jobs(caller: EngineCaller): Client<typeof JobsService>;
  contacts(caller: EngineCaller): Client<typeof ContactsService>;
  callTool(caller: EngineCaller, toolSlug: string, args: Readonly<Record<string, unknown>>): Promise<CallReply>;
  /** What failed and was tried again: in these tests nothing should. */
  readonly faults: readonly unknown[];
};

/**
 * Longer than any waits of acts that follow each other without a commit: those move the clock at once, before a lease could be renewed. The
 * engine of the tests never loses its lease.
 */
const leaseMs = 3_600_000;

/** Makes an engine on a database; it does nothing until `start`. */
export function createEngineUnderTest(parts: EngineParts): EngineUnderTest {
  const { db, clock, transport, catalog, vaultKey, onFaultPoint } = parts;
  const faults: unknown[] = [];
  const failed = (_what: string, error: unknown) => void faults.push(error);
  const node = createTestNode(db, {
    ...{ clock, transport, catalog, sandboxMode: "force" },
    sealer: createSealer(parseVaultKeys(vaultKey)),
    ...(onFaultPoint && { onFaultPoint }),
    limits: { jobs: { leaseMs } },
    observer: {
      jobs: {
        ended: () => {},
        parked: () => {},
        leaseLost: (jobId) => faults.push(`the lease of ${jobId} was lost`),
        failed,
      },
      heldLoop: () => {},
      toolkitBroken: (_projectId, toolkit, error) => faults.push(`${toolkit}: ${error}`),
      callUnrecorded: (callId, error) => faults.push(`${callId}: ${error}`),
    },
  });
  const { engine } = node.jobs;
  return {
    start: () => engine.start(),
    wake: () => engine.wake(),
    work: () => readWork(db, clock.now()),
    jobs: (principal) => node.client(JobsService, principal),
    contacts: (principal) => node.client(ContactsService, principal),
    callTool: (principal, toolSlug, args) =>
      node.apps.caller.call({
        caller: principal,
        toolSlug,
        args,
        entityId: "",
        accountId: undefined,
        idempotencyKey: undefined,
        isDryRun: false,
      }),
    faults,
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  };
}

async function readWork(db: Database, nowMs: number): Promise<Work> {
  const [queue] = await db.sql.unsafe<{ busy: number; next: string | null; lease: string | null }[]>(
    `select count(*) filter (where due_at <= $1::timestamptz or lease_until > $1::timestamptz)::int4 as busy,
       min(due_at) as next, min(lease_until) filter (where lease_until > $1::timestamptz) as lease from job_tasks`,
    [new Date(nowMs).toISOString()],
    { prepare: true },
  );
  const msOf = (time: string | null | undefined) => (typeof time === "string" ? Date.parse(time) : undefined);
  return { isBusy: queue?.busy !== 0, nextDueMs: msOf(queue?.next), leaseEndsMs: msOf(queue?.lease) };
}
