import type { ConnectLinkTarget } from "@svc/connections";
import { isoTime, type ProjectPrincipal } from "@svc/core";
import type { AgentTool } from "./agent-tool.ts";
import { answered } from "./answer.ts";
import type { ListedTool } from "./meta-tools.ts";

/** Creates a link through which a person connects an account. Rejects with the errors of CreateConnectLink. */
export type ConnectLinkMaker = (
  principal: ProjectPrincipal,
  asked: ConnectLinkTarget,
) => Promise<{ readonly url: string; readonly expiresAt: number }>;

const listed: ListedTool = {
  name: "connect_account",
  title: "Connect an account",
  description:
    "Returns a link that the user opens to connect an account of an app, for when a call reports that there is no account. Show it to the user, " +
    "and continue when they say that it is done. You never see what they type there.",
  inputSchema: {
    type: "object",
    additionalProperties: false,
    required: ["toolkit"],
    properties: {
      toolkit: { type: "string", description: "The app: the part of a slug before the dot." },
      entity_id: { type: "string", description: "Owner of the account, as entity_id of call_tool." },
      scheme: {
        type: "string",
        description: "The way to connect, if the app has several: oauth2, api_key or basic.",
      },
    },
  },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
};

type ConnectArguments = { readonly toolkit: string; readonly entity_id?: string; readonly scheme?: string };

/** Returns the tool that gives agents links for connecting accounts. */
export function createConnectAccountTool(makeLink: ConnectLinkMaker): AgentTool {
  return {
    group: "connect",
    listed,
    async answer(args, { principal, enter }) {
      const { toolkit, entity_id: entityId = "", scheme = "" } = args as ConnectArguments;
      const deed = { action: "ConnectionsService.CreateConnectLink", subject: toolkit, entityId };
      const link = await enter(deed, () =>
        makeLink(principal, { toolkitSlug: toolkit, entityId, scheme, redirectUrl: "" }),
      );
      const expiresAt = isoTime(link.expiresAt);
      return answered(
        { url: link.url, expiresAt },
        `Open this to connect ${toolkit}: ${link.url}\nIt works once, until ${expiresAt}.`,
      );
    },
  };
}
