import { ConnectionsService } from "@svc/gen/connections";
import { call, topic } from "../command/topic.ts";
import { addCredentialSet } from "../custom/set-credential.ts";

/** `svc credentials set|delete`. */
export const addCredentialsCommand = topic({
  says: "set and delete the client id and secret with which the project itself calls an app",
  examples: [
    "svc credentials set my_bank --client-id 4711 --secret-stdin < client-secret",
    "svc credentials delete my_bank",
  ],
  commands: {
    set: addCredentialSet,
    delete: call(ConnectionsService.method.deleteProjectCredential, {
      says: "erase the project's own credential of an app",
      takes: { "<toolkit>": ["slug of the toolkit", { fills: "toolkitSlug" }] },
      deleted: "toolkitSlug",
      json: "the slug as JSON",
      shows: "the project's own credential of {toolkitSlug} is erased",
      examples: ["svc credentials delete my_bank"],
    }),
  },
});
