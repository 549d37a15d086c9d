import { type EventSettings, EventSettingsSchema, TriggersService, UnknownEventTypes } from "@svc/gen/triggers";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { readBytes } from "../command/input.ts";
import { parseWords } from "../command/options.ts";
import { call, list, topic } from "../command/topic.ts";
import { messageText } from "../text/message.ts";
import { numberText, plainText } from "../text/plain.ts";
import { factLines, timeText } from "../text/table.ts";

const { createPortalLink, listPortalLinks, revokePortalLinks, getEventSettings, putEventSettings } =
  TriggersService.method;
const exampleId = "lnk_01h455vb4pex5vsknk084sn02q";

type LookValues = {
  readonly name?: string;
  readonly color?: string;
  readonly logo?: string;
  readonly origins?: readonly string[];
};

/** The commands `svc portal link|links|revoke|settings`, for the pages on which customers manage their own endpoints. */
export const addPortalCommand = topic({
  says: "create, list and end links to the portal, in which customers manage their own endpoints; change its look",
  examples: ["svc portal link ada", "svc portal links", "svc portal settings --name Acme --color '#1a73e8'"],
  commands: {
    link: call(createPortalLink, {
      says: "create a link that opens the portal of one entity until it expires",
      takes: { "<entity>": ["entity (customer) whose portal the link opens", { fills: "entityId" }] },
      options: [
        [
          "--expires-in <duration>",
          "time until the link and its sessions end, 5m to 30d (default: 1d)",
          { fills: "expiresIn" },
        ],
        ["--read-only", "sessions of the link can change and send nothing"],
      ],
      json: "the link as JSON",
      shows: ({ url }) => url,
      notes: ({ linkId, expiresAt }, { asJson }) =>
        asJson
          ? []
          : `${linkId} works until ${timeText(expiresAt)}. Send it only to this customer: it is not shown again.`,
      examples: ["svc portal link ada", "svc portal link ada --expires-in 7d --read-only"],
    }),
    links: list(listPortalLinks, {
      says: "list the portal links that have not ended, newest first",
      isDefault: true,
      options: [["--entity <id>", "only links of this entity (default: all)", { fills: "entityId" }]],
      rows: "links",
      table: {
        ID: "id",
        ENTITY: ({ entityId }) => plainText(entityId),
        MAY: ({ readOnly }) => (readOnly ? "read" : "change"),
        CREATED: "createdAt",
        EXPIRES: "expiresAt",
        "LAST USED": "lastUsedAt",
      },
      json: "the links as a JSON list",
      examples: ["svc portal links", "svc portal links --entity ada"],
    }),
    revoke: call(revokePortalLinks, {
      says: "end a portal link, or all of an entity, with their sessions; open pages are signed out",
      options: [
        ["--entity <id>", "end all links of this entity", { fills: "entityId" }],
        ["--link <id>", "end this link", { fills: "linkId", conflicts: "entity" }],
      ],
      json: "the number of ended links as JSON",
      shows: ({ revoked }) => `${numberText(revoked)} ${revoked === 1 ? "link has" : "links have"} ended`,
      examples: ["svc portal revoke --entity ada", `svc portal revoke --link ${exampleId}`],
    }),
    settings: command(
      putEventSettings,
      {
        says: "show or change the look of the portal; changing it needs an approver's key",
        options: [
          ["--name <text>", "name in the title of the portal ('' for the name of the project)"],
          ["--color <color>", "main color, such as #1a73e8 ('' for that of the console)"],
          ["--logo <file>", "PNG, JPEG or WebP image of at most 64 KiB; - reads standard input ('' removes the logo)"],
          [
            "--origins <origins>",
            "sites that may embed the portal, such as https://app.example.com,https://example.com ('' for none)",
            { parse: ((text: string) => (text === "" ? [] : parseWords(text))) as never },
          ],
        ],
        also: [[getEventSettings]],
        json: "the settings as JSON",
        examples: [
          "svc portal settings",
          "svc portal settings --name Acme --color '#1a73e8' --logo logo.png",
          "svc portal settings --origins https://app.example.com",
        ],
      },
      async ({ values, context, project, asJson }: Run<LookValues>) => {
        const { triggers } = await project();
        const read = await triggers.getEventSettings({});
        const changed = await changedLook(read.settings, values, context);
        const { settings } =
          changed === undefined
            ? read
            : await triggers.putEventSettings({
                settings: { unknownTypes: read.settings?.unknownTypes ?? UnknownEventTypes.REFUSE, portal: changed },
              });
        if (settings === undefined) return;
        if (asJson) context.print(messageText(EventSettingsSchema, settings));
        else for (const line of lookLines(settings)) context.print(line);
      },
    ),
  },
});

/**
 * Returns the settings for the look of the portal after the change that the command's options describe. Returns undefined if the user gave
 * no such option.
 */
async function changedLook(
  settings: EventSettings | undefined,
  { name, color, logo, origins }: LookValues,
  context: CommandContext,
) {
  if ([name, color, logo, origins].every((value) => value === undefined)) return undefined;
  const before = settings?.portal;
  const image = logo === undefined ? before?.logo : logo === "" ? undefined : await readBytes(logo, "--logo", context);
  return {
    name: name ?? before?.name ?? "",
    color: color ?? before?.color ?? "",
    logo: new Uint8Array(image ?? []),
    origins: [...(origins ?? before?.origins ?? [])],
  };
}

function lookLines({ portal }: EventSettings): string[] {
  const { name, color, logo, origins } = portal ?? { ...emptyLook };
  return factLines([
    ["name", plainText(name) || "that of the project"],
    ["color", color || "that of the console"],
    ["logo", logo.byteLength === 0 ? "none" : `${numberText(logo.byteLength)} bytes`],
    ["embedded by", origins.join(", ") || "no site"],
  ]);
}

const emptyLook = { name: "", color: "", logo: new Uint8Array(), origins: [] as string[] };
