import { answerCommands } from "../child.ts";
import { postKind } from "../post-kinds.ts";
import type { PeerCommands } from "./commands.ts";
import { serveWebhooks } from "./webhook-server.ts";

let accepted = 0;

const commands: PeerCommands = {
  start: ({ post }) =>
    serveWebhooks(postKind(post), () => {
      accepted += 1;
    }),
  recorded: async () => accepted,
};

answerCommands(commands);
