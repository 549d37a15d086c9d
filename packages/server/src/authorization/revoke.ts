import type { IncomingMessage, ServerResponse } from "node:http";
import { digestSecret } from "@svc/core";
import { findGrantToken } from "@svc/db/grants/tokens";
import { endGrantFor } from "./end-grant.ts";
import { AuthorizationRefusal, answerUnkept, readForm } from "./serve.ts";
import type { TokenOptions } from "./token.ts";

/** Ends the grant of a token that its client gives back (RFC 7009); a token that is none is answered alike. */
export function createRevoke(options: TokenOptions): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { db } = options;
  return async (req, res) => {
    const form = await readForm(req, options);
    const text = form.get("token");
    if (text === null || text === "") throw new AuthorizationRefusal("invalid_request", "token is missing");
    const token = await findGrantToken(db, digestSecret(text));
    if (token !== undefined && token.clientId === form.get("client_id")) {
      await endGrantFor("GrantToken.Revoke", token, options);
    }
    answerUnkept(res, 200, {});
  };
}
