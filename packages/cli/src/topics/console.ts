import { ConsoleService } from "@svc/gen/console";
import { call, list, topic } from "../command/topic.ts";

const { createSignInLink, listSessions, endSession } = ConsoleService.method;

/** The commands `svc console open|sessions|end`, for the console in the browser and its sessions. */
export const addConsoleCommand = topic({
  says: "open the console in a browser, signed in; list and end its sessions",
  examples: ["svc console", "svc console --print", "svc console sessions"],
  commands: {
    open: call(createSignInLink, {
      says: "open the console with the key in use, through a link that works once within ten minutes",
      isDefault: true,
      options: [["--print", "print the link instead of opening it"]],
      json: "the link as JSON",
      shows: async ({ url }, { values: { print }, context }) => {
        const isOpened = print !== true && ((await context.terminal?.openPage(url)) ?? false);
        if (!isOpened) return url;
        context.note(
          'The console was opened in the browser. If you see no page, "svc console --print" prints its link.',
        );
        return [];
      },
      examples: ["svc console open", "svc console open --print"],
    }),
    sessions: list(listSessions, {
      says: "list the browsers that are signed in with the key in use",
      rows: "sessions",
      table: { ID: "id", "SIGNED IN": "createdAt", USED: "usedAt", BROWSER: "userAgent" },
      json: "the sessions as a JSON list",
      examples: ["svc console sessions"],
    }),
    end: call(endSession, {
      says: "sign the key in use out of a session; its pages stop within two seconds",
      takes: { "<id>": "id of the session" },
      ended: "id",
      json: "the id as JSON",
      shows: "{id} has ended",
      examples: ["svc console end ses_01h455vb4pex5vsknk084sn02q"],
    }),
  },
});
