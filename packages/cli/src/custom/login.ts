import { requireText } from "@svc/core";
import { createSvcClient } from "@svc/sdk";
import { type ProjectOptions, validUrl } from "../command/client.ts";
import type { CommandContext } from "../command/context.ts";
import { command, type Run } from "../command/declared.ts";
import { CommandError } from "../command/error.ts";
import {
  namedProfile,
  noProfile,
  type Profiles,
  profileName,
  readProfiles,
  storeProfiles,
} from "../command/profiles.ts";
import { roleText } from "../text/bound.ts";
import { tableLines } from "../text/table.ts";
import { signInWithBrowser } from "./device-login.ts";

type LoginOptions = ProjectOptions & { readonly url: string; readonly browser?: true };

/** The command `svc login`, which stores the address of a service and a key for it as a profile. */
export const addLoginCommand = command(
  undefined,
  {
    says: "store the address of a service and a key for it, so that later commands use them",
    takes: { "<url>": "address of the service, such as https://svc.example.com" },
    options: [
      ["--api-key <key>", "key of the project (default: the command asks for it, or reads it from standard input)"],
      ["--browser", "sign in with a browser that is signed in to the console; needs no key"],
    ],
    client: "none",
    json: "the profile without its key as JSON",
    more: `
The command calls the service with the key first. It stores both in svc/profiles.json in XDG_CONFIG_HOME or ~/.config, which
only you can read. --profile names the profile; its default is the host. Commands use the profile of --profile, otherwise
that of SVC_PROFILE, otherwise the last one of \`svc login\` or \`svc use\`. If SVC_URL, SVC_API_KEY or SVC_ADMIN_TOKEN is set,
they use only a profile that --profile names.

With --browser, the command prints a code and an address. Open the address on any device, and compare the code. The key then has your
role in the project, ends with your access, and lasts at most as long as a console session.`,
    examples: [
      "svc login https://svc.example.com",
      "svc login https://svc.example.com --browser",
      "svc login https://svc.example.com --profile work < key.txt",
    ],
  },
  async ({ values, context, asJson }: Run<LoginOptions>) => {
    const url = validUrl(values.url);
    const name =
      namedProfile(context) ?? profileName(new URL(url).hostname.replaceAll(/[^\w.-]/g, "-").replace(/^-+/, ""));
    const { profiles } = readProfiles(context.environment);
    const other = namedProfile(context) === undefined ? profiles.get(name)?.url : undefined;
    if (other !== undefined && other !== url)
      throw new CommandError(`the profile ${name} is that of ${other}; name another one with --profile`);
    const apiKey = (
      values.apiKey ?? (values.browser ? await signInWithBrowser(url, context) : await askKey(context))
    ).trim();
    if (apiKey === "") throw new CommandError("no API key: type it, give --api-key, or write it to standard input");
    const identity = await createSvcClient({ baseUrl: url, apiKey }).identity.getIdentity({});
    const file = storeProfiles(context.environment, {
      current: name,
      profiles: new Map([...profiles, [name, { url, apiKey }]]),
    });
    if (asJson) return context.print(JSON.stringify({ profile: name, url, projectName: identity.projectName, file }));
    context.print(`logged in to ${url} as ${roleText(identity.role)} of ${identity.projectName}; profile ${name}`);
  },
);

async function askKey({ terminal, readInput }: CommandContext): Promise<string> {
  return terminal === undefined ? requireText(await readInput()) : terminal.askSecret("API key: ");
}

/** The command `svc use`, which lists the profiles, or chooses the one that later commands use. */
export const addUseCommand = command(
  undefined,
  {
    says: "choose the profile that later commands use, or list the profiles",
    takes: { "[profile]": "name of the profile (default: list them)" },
    client: "none",
    json: "the profiles without their keys as JSON",
    examples: ["svc use", "svc use work"],
  },
  ({ values: { profile: name }, context, asJson }: Run<{ readonly profile?: string }>) => {
    const stored = readProfiles(context.environment);
    const current = name === undefined ? stored.current : known(stored, name);
    if (name !== undefined) storeProfiles(context.environment, { ...stored, current });
    const rows = [...stored.profiles].map(([profile, { url }]) => ({ profile, url, current: profile === current }));
    if (asJson) return context.print(JSON.stringify(rows));
    if (rows.length === 0) return context.note("There is no profile: `svc login <url>` makes one.");
    const cells = rows.map((row) => [row.profile, row.url, row.current ? "current" : ""]);
    for (const line of tableLines(["PROFILE", "SERVICE", ""], cells)) context.print(line);
  },
);

/** The command `svc logout`, which removes a profile with its key. */
export const addLogoutCommand = command(
  undefined,
  {
    says: "remove a profile with its key from this computer; the key stays valid",
    takes: { "[profile]": "name of the profile (default: the current one)" },
    client: "none",
    json: "the name of the profile as JSON",
    more: "\n`svc keys revoke` ends a key for good.",
    examples: ["svc logout", "svc logout work"],
  },
  ({ values, context, asJson }: Run<{ readonly profile?: string }>) => {
    const stored = readProfiles(context.environment);
    const name = values.profile ?? namedProfile(context) ?? stored.current;
    if (name === "") throw new CommandError("there is no current profile; `svc use` lists the profiles");
    const removed = known(stored, name);
    const profiles = new Map([...stored.profiles].filter(([profile]) => profile !== removed));
    storeProfiles(context.environment, { current: stored.current === removed ? "" : stored.current, profiles });
    context.print(asJson ? JSON.stringify({ profile: removed }) : `removed the profile ${removed}`);
  },
);

function known({ profiles }: Profiles, name: string): string {
  if (profiles.has(name)) return name;
  throw new CommandError(noProfile(name, profiles));
}
