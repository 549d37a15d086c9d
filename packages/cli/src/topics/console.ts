import { ConsoleService } from "@svc/gen/console";
import { list, topic } from "../command/topic.ts";
import { addConsoleEnd } from "../console/end.ts";
import { addConsoleOpen } from "../console/open.ts";

/** `svc console open|sessions|end`. */
export const addConsoleCommand = topic({
  name: "console",
  says: "open the console in a browser, signed in; list and end its sessions",
  examples: ["svc console", "svc console --print", "svc console sessions"],
  commands: {
    open: addConsoleOpen,
    sessions: list(ConsoleService.method.listSessions, {
      says: "list the browsers that are signed in with the key in use",
      rows: "sessions",
      table: { ID: "id", "SIGNED IN": "createdAt", USED: "usedAt", BROWSER: "userAgent" },
      json: "the sessions as a JSON list",
      examples: ["svc console sessions"],
    }),
    end: addConsoleEnd,
  },
});
