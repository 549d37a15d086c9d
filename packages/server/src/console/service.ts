import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import { type Clock, coreFaults, requireId, requireProject } from "@svc/core";
import type { Database } from "@svc/db/connect";
import { endConsoleSeat, type ListedConsoleSession, listConsoleSessions } from "@svc/db/console/sessions";
import { type ConsoleService, type ConsoleSession, ConsoleSessionSchema } from "@svc/gen/console";
import { consoleSessionIdleMs } from "@svc/node";
import { consoleFaults } from "./errors.ts";
import { type Sessions, sessionLifeMs, sessionsOfKeyMax } from "./sessions.ts";
import { createSignInLink } from "./sign-in-link.ts";

/** What ConsoleService works with. `sessions` is undefined on a node that serves no console. */
export type ConsoleServiceOptions = {
  readonly db: Database;
  readonly clock: Clock;
  readonly publicUrl: () => string;
  readonly sessions: Sessions | undefined;
};

/** ConsoleService: links to sign in by, and the sessions of a key. */
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
      const open = rows.filter((row) => expiryOf(row) > clock.now());
      return { sessions: open.map(sessionMessage) };
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

function expiryOf({ createdAt, usedAt }: ListedConsoleSession): number {
  return Math.min(createdAt + sessionLifeMs, usedAt + consoleSessionIdleMs);
}

function sessionMessage(row: ListedConsoleSession): ConsoleSession {
  const { id, userAgent, createdAt, usedAt } = row;
  return create(ConsoleSessionSchema, {
    ...{ id, userAgent, createdAt: timestampFromMs(createdAt), usedAt: timestampFromMs(usedAt) },
    expiresAt: timestampFromMs(expiryOf(row)),
  });
}
