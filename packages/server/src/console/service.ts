import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Clock, coreFaults, type KeyId, type ProjectId, requireId, requireProject } from "@svc/core";
import type { Database, Executor } from "@svc/db/connect";
import { makeConsoleLink } from "@svc/db/console/links";
import { endConsoleSeat, type ListedConsoleSession, listConsoleSessions } from "@svc/db/console/sessions";
import { type ConsoleService, type ConsoleSession, ConsoleSessionSchema } from "@svc/gen/console";
import { consoleSessionIdleMs } from "@svc/node";
import { consoleFaults } from "./errors.ts";
import { consolePath, ofCell } from "./headers.ts";
import { type Sessions, sessionsOfKeyMax } from "./sessions.ts";

/**
 * Dependencies of creating sign-in links. `db`: the database that stores them. `publicUrl`: returns the address of the service, with which
 * a link begins. `cell`: the cell that a link names; undefined if the deployment is not a cell.
 */
export type SignInLinks = {
  readonly db: Executor;
  readonly clock: Clock;
  readonly cell: string | undefined;
  readonly publicUrl: () => string;
};

/** Lifetime of a sign-in link in milliseconds. */
const lifeMs = 600_000;

/** Creates a link that opens the console once, with the seat of a key (its access in the console). Only `url` contains the link's token. */
export async function createSignInLink(
  { db, clock, cell, publicUrl }: SignInLinks,
  { projectId, keyId }: { projectId: ProjectId; keyId: KeyId },
): Promise<{ url: string; expiresAt: number }> {
  const nowMs = clock.now();
  const expiresAt = nowMs + lifeMs;
  const { token } = await makeConsoleLink(db, {
    ...{ purpose: "sign_in", target: {} },
    ...{ projectId, keyId, expiresAt, nowMs },
  });
  return { url: `${publicUrl()}${ofCell(consolePath, cell)}#link=${token}`, expiresAt };
}

/** Dependencies of ConsoleService. `sessions`: undefined on a node without the console. */
type ConsoleServiceOptions = SignInLinks & {
  readonly db: Database;
  readonly sessions: Sessions | undefined;
  /** Maximum time of a session from its sign-in, in milliseconds. */
  readonly sessionMaxMs: number;
};

/** Creates ConsoleService, which manages links for signing in to the console, and the console sessions of a key. */
export function createConsoleService(options: ConsoleServiceOptions): ServiceImpl<typeof ConsoleService> {
  const { db, clock, sessions } = options;
  return {
    async createSignInLink(_request, ctx) {
      if (sessions === undefined) throw coreFaults.CONSOLE_OFF();
      const { url, expiresAt } = await createSignInLink(options, requireProject(ctx));
      return { url, expiresAt: timestampFromMs(expiresAt) };
    },
    async listSessions(_request, ctx) {
      const { keyId } = requireProject(ctx);
      const rows = await listConsoleSessions(db, keyId, { after: undefined, limit: sessionsOfKeyMax });
      const messages = rows.map((row) => ({ row, expiresAt: expiryOf(row, options.sessionMaxMs) }));
      const open = messages.filter(({ expiresAt }) => expiresAt > clock.now());
      return { sessions: open.map(({ row, expiresAt }) => sessionMessage(row, expiresAt)) };
    },
    async endSession(request, ctx) {
      const { keyId } = requireProject(ctx);
      const id = requireId("ses", "id", request.id);
      if (!(await endConsoleSeat(db, { id, keyId }))) throw consoleFaults.SESSION_NOT_FOUND(id);
      sessions?.forget({ session: id });
      return {};
    },
  };
}

function expiryOf({ createdAt, usedAt }: ListedConsoleSession, lifeMs: number): number {
  return Math.min(createdAt + lifeMs, usedAt + consoleSessionIdleMs);
}

function sessionMessage({ id, userAgent, createdAt, usedAt }: ListedConsoleSession, expiresAt: number): ConsoleSession {
  return create(ConsoleSessionSchema, {
    ...{ id, userAgent, createdAt: timestampFromMs(createdAt), usedAt: timestampFromMs(usedAt) },
    expiresAt: timestampFromMs(expiresAt),
  });
}
