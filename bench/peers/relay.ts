import { answerCommands } from "../child.ts";
import { postKind } from "../post-kinds.ts";
import type { PeerCommands } from "./commands.ts";
import { createPeerEvent, createSender } from "./delivery-message.ts";
import { serveWebhooks } from "./webhook-server.ts";

let delivered = 0;

const commands: PeerCommands = {
  start: ({ post, endpointUrl, endpointConnections }) => {
    const kind = postKind(post);
    const send = createSender(endpointUrl, endpointConnections);
    // The provider is answered once the post is verified, and the delivery continues after that, as in the server.
    return serveWebhooks(kind, (payload) => {
      void send(createPeerEvent(kind, payload)).then((outcome) => {
        if (outcome.error === "") delivered += 1;
      });
    });
  },
  recorded: async () => delivered,
};

answerCommands(commands);
