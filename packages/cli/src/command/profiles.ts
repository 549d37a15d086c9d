import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatValue, isObject, requireText } from "@svc/core";
import type { Environment } from "@svc/server/config";
import type { CommandContext } from "./context.ts";
import { CommandError } from "./error.ts";

/** A service that the user has logged in to: its address and the key for it. */
export type Profile = { readonly url: string; readonly apiKey: string };

/** The stored profiles by name. `current`: name of the profile that commands use by default; empty if there is none. */
export type Profiles = { readonly current: string; readonly profiles: ReadonlyMap<string, Profile> };

const named = new WeakMap<CommandContext, string>();

/** Sets the profile that the user named with `--profile` for this command. */
export function nameProfile(context: CommandContext, name: string | undefined): void {
  if (name !== undefined) named.set(context, profileName(name));
}

/** Returns the profile name that the user gave with `--profile`, or undefined. */
export function namedProfile(context: CommandContext): string | undefined {
  return named.get(context);
}

/**
 * Returns the given profile name unchanged. Throws CommandError if it has more than 64 characters, or others than letters, digits, `.`, `-`
 * and `_`.
 */
export function profileName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name)) return name;
  throw new CommandError(
    `${formatValue(name)} is not a name of a profile; use 1 to 64 letters, digits, dots, hyphens and underscores, such as work`,
    2,
  );
}

/** Variables that name a service or a credential. A profile that the user did not name has no effect if one of them is set. */
const stronger = ["SVC_URL", "SVC_API_KEY", "SVC_ADMIN_TOKEN"];

/**
 * Returns the profile that a command uses: that of `--profile`, otherwise that of SVC_PROFILE, otherwise the current one. Returns undefined
 * if there is none, or if options or variables give a credential, because that credential may be for another service than the profile's.
 * Throws CommandError if the named profile does not exist.
 */
export function profileOf(
  context: CommandContext,
  { apiKey, adminToken }: { readonly apiKey?: string; readonly adminToken?: string },
): (Profile & { readonly name: string }) | undefined {
  const { environment } = context;
  const explicit = named.get(context);
  if (explicit === undefined && stronger.some((name) => environment.get(name) !== undefined)) return undefined;
  const chosen = explicit ?? environment.get("SVC_PROFILE");
  if (chosen === undefined && (apiKey ?? adminToken) !== undefined) return undefined;
  const { current, profiles } = readProfiles(environment);
  const name = chosen ?? current;
  const found = profiles.get(name);
  if (found !== undefined) return { ...found, name };
  if (chosen === undefined) return undefined;
  throw new CommandError(noProfile(chosen, profiles));
}

/** Returns the message that there is no profile with this name. */
export function noProfile(name: string, profiles: Profiles["profiles"]): string {
  const known = profiles.size === 0 ? "`svc login <url>` makes one" : `there are ${[...profiles.keys()].join(", ")}`;
  return `there is no profile ${formatValue(name)}; ${known}`;
}

/** Returns the path of the file with the profiles: in XDG_CONFIG_HOME, or in .config in the home folder. Undefined without either. */
function fileOf(environment: Environment): string | undefined {
  const home = environment.get("HOME");
  const folder = environment.get("XDG_CONFIG_HOME") ?? (home === undefined ? undefined : join(home, ".config"));
  return folder === undefined ? undefined : join(folder, "svc", "profiles.json");
}

/** Reads the stored profiles. Throws CommandError if their file cannot be read, or has another form than `storeProfiles` gives it. */
export function readProfiles(environment: Environment): Profiles {
  const file = fileOf(environment);
  const text = file === undefined ? undefined : readIfThere(file);
  if (text === undefined) return { current: "", profiles: new Map() };
  const stored = parsed(text);
  const entries = isObject(stored?.["profiles"]) ? Object.entries(stored["profiles"]) : undefined;
  const profiles = entries?.flatMap(([name, one]) =>
    isObject(one) && typeof one["url"] === "string" && typeof one["apiKey"] === "string"
      ? [[name, { url: one["url"], apiKey: one["apiKey"] }] as const]
      : [],
  );
  if (stored === undefined || profiles === undefined || profiles.length !== entries?.length) {
    throw new CommandError(`${file} is not a file of profiles; delete it, and log in again with \`svc login <url>\``);
  }
  const { current } = stored;
  return { current: typeof current === "string" ? current : "", profiles: new Map(profiles) };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): string | undefined {
  try {
    return requireText(readFileSync(file));
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new CommandError(`${file} cannot be read (${code}); it holds the profiles of \`svc login\``);
  }
}

/** Stores the profiles in a file that only the user can read, and returns its path. Throws CommandError if it cannot be written. */
export function storeProfiles(environment: Environment, { current, profiles }: Profiles): string {
  const file = fileOf(environment);
  if (file === undefined) throw new CommandError("set HOME or XDG_CONFIG_HOME: svc stores profiles there");
  const unfinished = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    const text = JSON.stringify({ current, profiles: Object.fromEntries(profiles) }, undefined, 2);
    writeFileSync(unfinished, `${text}\n`, { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
    return file;
  } catch (error) {
    throw new CommandError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
