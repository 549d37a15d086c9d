import { isoTime } from "@svc/core";
import { type AnyObject, typesOf } from "../app/refusal.ts";
import { digestOf, numberOf, type Seed } from "./seed.ts";
import { singularOf, wordsOf } from "./words.ts";

/** A value that the sandbox makes up: its schema, its position inside its object, and the object. */
export type WantedValue = {
  readonly schema: AnyObject;
  readonly path: readonly string[];
  readonly owner: string;
  readonly seed: Seed;
  /** Values that the app is known to accept for a field with this name. Empty if no values are known. */
  readonly options: readonly unknown[];
  /** True if a call of the user made the object. The object then has the values of a new object (for example the first status). */
  readonly isNew?: boolean;
  readonly times?: Times;
};

/** The times from which the time fields of an object are computed, for example the time of a call that made the object. */
export type Times = {
  /** Latest time of made-up objects, in epoch milliseconds. */
  readonly baseMs: number;
  /** Time at which a call made the object, in epoch milliseconds. `changedMs`: time at which a call last changed it. */
  readonly madeMs?: number | undefined;
  readonly changedMs?: number | undefined;
};

type Clue = WantedValue & {
  readonly words: string;
  readonly parent: string;
  readonly number: number;
  /**
   * Number that chooses a made-up person. All fields about one person use the same number, so that the name and the address belong
   * together.
   */
  readonly person: number;
};

const people = [
  "Ana Silva",
  "Ben Okafor",
  "Chen Wei",
  "Dora Novak",
  "Emil Berg",
  "Farah Aziz",
  "Gita Rao",
  "Hugo Martin",
  "Ines Costa",
  "Jonas Weber",
  "Kaya Demir",
  "Lena Fischer",
  "Mateo Ruiz",
] as const;
const topics = [
  "Quarterly planning",
  "Login fails on mobile",
  "Website relaunch",
  "Customer onboarding",
  "Export takes too long",
  "Spring newsletter",
  "Supplier contract",
  "Release checklist",
] as const;
const sentences = [
  "Agreed with the team on Tuesday; the next step is a first draft.",
  "Happens for every account since the last update.",
  "Please look at this before the end of the week.",
  "All details are in the attached notes.",
] as const;
const personWords =
  /\bfrom\b|user|person|owner|organizer|assignee|creator|author|member|invitee|contact|signer|lead|agent|sender|requester|customer|host|attendee|holder|display|full/;

/**
 * Rules with which the sandbox (apps that svc plays itself) makes up texts, by the name of the field. The first rule that matches is used.
 */
const textRules: readonly (readonly [RegExp, (clue: Clue) => string])[] = [
  [/\buuid$/, ({ seed, path }) => uuidOf(seed, path)],
  [
    /\b(e ?mail|email address)$|^emails$/,
    ({ person }) => `${pick(people, person).toLowerCase().replace(" ", ".")}@example.com`,
  ],
  [/\b(time ?zone|tz)$/, ({ number }) => pick(["Europe/Madrid", "UTC", "America/New_York", "Asia/Tokyo"], number)],
  [
    /\b(url|uri|link|href|website|webhook|avatar|logo|photo)$/,
    (clue) => `https://${clue.parent || "app"}.example.com/${tokenOf(clue, 10)}`.replaceAll(" ", "-"),
  ],
  [/\b(phone|phone number|mobile)$/, ({ number }) => `+3491${String(number % 10_000_000).padStart(7, "0")}`],
  [/\bfirst name$|\bgiven name$|^fname$/, ({ person }) => pick(people, person).split(" ")[0] ?? ""],
  [/\blast name$|\bfamily name$|^lname$/, ({ person }) => pick(people, person).split(" ")[1] ?? ""],
  [/\bcurrency( code)?$/, ({ number }) => pick(["EUR", "USD", "GBP"], number)],
  [/\bcountry( code)?s?$|\bcountry codes$/, ({ number }) => pick(["ES", "US", "DE"], number)],
  [/\bmask$|\blast four$/, ({ number }) => String(number % 10_000).padStart(4, "0")],
  [/\b(location|address|place|city)$/, ({ number }) => pick(["Madrid", "Lisbon", "Oslo", "Kyoto"], number)],
  [/\b(position|order|rank|index)$/, ({ number }) => String(number % 100)],
  [/\bdomains?$/, () => "example.com"],
  [/^identifier$/, ({ owner, number }) => `${owner.slice(0, 3).toUpperCase()}-${number % 1000}`],
  [/^name$/, (clue) => nameOf(clue)],
  [/\b(username|user name|slug|handle)$/, ({ number }) => pick(topics, number).toLowerCase().replaceAll(" ", "-")],
  [
    /\b(id|ids|identifier|reference|key|keys|token|secret|hash|checksum|cursor|code|mask|nonce|data|psp reference)$/,
    (clue) => tokenOf(clue, 24),
  ],
  [/\b(date|day|due on|birthday)$/, (clue) => timeOf(clue).slice(0, 10)],
  [
    /\b(at|time|timestamp|created|updated|modified|start|end|starts|ends|since|until|expires|expiry|expiration|last run|next run|generated)$/,
    timeOf,
  ],
  [/\b(language|locale|lang)$/, () => "en"],
  [/\bcolor( id)?$/, ({ number }) => `#${(number % 0x1000000).toString(16).padStart(6, "0")}`],
  [/\bversion$/, ({ number }) => `1.${number % 10}.0`],
  [/\b(status|state|outcome)$/, () => "active"],
  [
    /\b(type|kind|category|role|scope|visibility|platform)$/,
    ({ number }) => pick(["standard", "default", "custom"], number),
  ],
  [/\b(ip|host|hostname)$/, ({ number }) => `192.0.2.${number % 256}`],
  [/\bhtml$/, ({ number }) => `<p>${pick(sentences, number)}</p>`],
  [/\b(name|label)$/, nameOf],
  [/\b(title|summary|subject|subject line|question|caption)$/, ({ number }) => pick(topics, number)],
  [
    /\b(description|body|text|message|content|note|notes|comment|reason|explanation|plain text|text body)$/,
    ({ number }) => pick(sentences, number),
  ],
  [/^(user|owner|assignee|creator|author|organizer|sender)$/, ({ person }) => pick(people, person)],
];

/**
 * Returns a made-up name for a field. The object that has the field decides if it is the name of a person, of a step of a process, or of a
 * topic.
 */
function nameOf({ parent, number, person, words }: Clue): string {
  if (personWords.test(`${parent} ${words}`)) return pick(people, person);
  if (/\b(state|status|stage)\b/.test(parent)) return pick(["To do", "In progress", "Done"], number);
  return pick(topics, number);
}

const trueWords = /\b(ok|success|active|enabled|deleted|exists|supported|fired|approved|editable|reset login)\b/;
const falseWords = /\b(more|archived|hidden|locked|error|declined|deprecated|closed|revoked|suppressed|overdue|bot)\b/;

/** Latest time of made-up objects if the caller gives none, in epoch milliseconds. */
const usualBaseMs = Date.UTC(2026, 0, 4, 9);
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
/** Maximum age of made-up objects, in days. Half of the objects are younger than a quarter of this age. */
const daysMax = 180;

/** Returns a made-up text, number or boolean that fits the field and its object. The same seed and path always give the same value. */
export function plausibleScalar(wanted: WantedValue): unknown {
  // The path without list indexes, so that an item of a list gets its value by the name of the list.
  const names = wanted.path.filter((step) => !/^\d+$/.test(step));
  const name = names.at(-1) ?? wanted.owner;
  const clue: Clue = {
    ...wanted,
    words: wordsOf(name).join(" "),
    parent: wordsOf(names.at(-2) ?? wanted.owner)
      .map(singularOf)
      .join(" "),
    // `number` is computed only when a rule uses it. Computing a digest takes most of the time, and few rules need both `number` and
    // `person`.
    get number() {
      return numberOf(wanted.seed, ...wanted.path);
    },
    get person() {
      return numberOf(wanted.seed, ...wanted.path.slice(0, -1), "person");
    },
  };
  const { schema } = wanted;
  if (schema["const"] !== undefined) return schema["const"];
  const options = schema["enum"];
  if (Array.isArray(options) && options.length > 0) return options[clue.number % options.length];
  const types = typesOf(schema).filter((type) => type !== "null");
  const option = optionOf(clue, types);
  if (option !== undefined) return option;
  if (types.includes("string") || types.length === 0) return textOf(clue);
  if (types.includes("integer") || types.includes("number")) return numberFor(clue, types.includes("number"));
  if (types.includes("boolean")) return booleanFor(clue);
  return null;
}

/** Matches values that an argument accepts as a filter, but that no emulated object has in its field (for example `all`). */
const unreal = /^(?:all|any|none|deleted|removed|trashed)$/i;
/** Final states. A made-up object never has one, because an object reaches a final state only by a call. */
const late = /^(?:archived|cancell?ed|lost|closed|failed|cleaned|unsubscribed|rejected|expired|disabled)$/i;

/**
 * Returns one of the values that the app is known to accept for a field. If the field is a status, half of the objects get the first value,
 * because it is usually the status of new objects. A new object always gets the first value.
 */
function optionOf(clue: Clue, types: readonly unknown[]): unknown {
  const isTyped = (option: unknown) =>
    types.includes(typeof option) || (types.includes("integer") && Number.isInteger(option));
  const real = clue.options.filter((option) => isTyped(option) && !unreal.test(String(option)));
  if (!/\b(?:status|state)$/.test(clue.words)) return real[clue.number % real.length];
  const usual = real.filter((option) => !late.test(String(option)));
  if (usual.length === 0) return undefined;
  const isFirst = clue.isNew === true || clue.number % 8 < 4;
  return isFirst ? usual[0] : real[Math.trunc(clue.number / 8) % real.length];
}

function textOf(clue: Clue): string {
  const { minLength, maxLength } = clue.schema;
  let text = formattedText(clue) ?? textRules.find(([pattern]) => pattern.test(clue.words))?.[1](clue);
  text ??= `${clue.words || clue.owner} ${tokenOf(clue, 4)}`;
  if (typeof minLength === "number") text = text.padEnd(Math.min(minLength, 10_000), "x");
  return typeof maxLength === "number" ? text.slice(0, maxLength) : text;
}

function formattedText(clue: Clue): string | undefined {
  switch (clue.schema["format"]) {
    case "date-time":
      return timeOf(clue);
    case "date":
      return timeOf(clue).slice(0, 10);
    case "time":
      return timeOf(clue).slice(11);
    case "email":
      return `${pick(people, clue.person).toLowerCase().replace(" ", ".")}@example.com`;
    case "uri":
    case "url":
    case "uri-reference":
      return `https://app.example.com/${tokenOf(clue, 10)}`;
    case "uuid":
      return uuidOf(clue.seed, clue.path);
    case "hostname":
      return "app.example.com";
    case "ipv4":
      return `192.0.2.${clue.number % 256}`;
    case "ipv6":
      return `2001:db8::${(clue.number % 0xffff).toString(16)}`;
    default:
      return undefined;
  }
}

function tokenOf({ seed, path }: Clue, length: number): string {
  return digestOf(seed, ...path, "token").slice(0, length);
}

/** Returns a UUID of version 8 (RFC 9562) that is made from a digest. */
export function uuidOf(seed: Seed, path: readonly string[]): string {
  const hex = digestOf(seed, ...path, "uuid");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** Returns a plausible time for a field of an object. For example, a change of the object is later than its creation. */
function timeOf(clue: Clue): string {
  return isoTime(timeMsOf(clue));
}

function timeMsOf({ seed, path, words, times }: Clue): number {
  const name = `${path.at(-2) ?? ""} ${words}`.toLowerCase();
  const number = numberOf(seed, "day");
  const isChange = /updat|modif|edit|chang|finish|last|sent|send|complet/.test(name);
  const madeMs = times?.madeMs ?? (times?.baseMs ?? usualBaseMs) - agoMs(number);
  if (isChange && times?.changedMs !== undefined) return times.changedMs;
  if (isChange) return madeMs + (times?.madeMs === undefined ? 2 * hourMs : 0);
  const isPlanned = /\b(?:start|starts|end|ends|due|day)\b|expir|target|next|until/.test(name) && !/creat/.test(name);
  if (!isPlanned) return madeMs;
  const halfHour = Math.floor(madeMs / (hourMs / 2)) * (hourMs / 2);
  if (/expir|due|target|next|until/.test(name)) return halfHour + (7 + (number % 30)) * dayMs;
  return halfHour + (number % 21) * dayMs + (/\bends?\b/.test(name) ? 2 * hourMs : 0);
}

/**
 * Returns a plausible age of an object in milliseconds, computed from `number`. Small ages are more frequent than large ones. The time of
 * day at which the object was made is within working hours.
 */
function agoMs(number: number): number {
  const share = (number % 1009) / 1009;
  const days = Math.floor(daysMax * share * share);
  return days * dayMs - (Math.floor(number / 1009) % (8 * 3600)) * 1000;
}

function numberFor(clue: Clue, isFraction: boolean): number {
  const { words, number, schema } = clue;
  const bounded = (value: number) => {
    const { minimum, maximum } = schema;
    const least = typeof minimum === "number" ? Math.max(value, minimum) : value;
    return typeof maximum === "number" ? Math.min(least, maximum) : least;
  };
  if (/\b(id|ids|number|reference)$/.test(words)) return bounded(1_000_000 + (number % 9_000_000));
  if (
    /\b(at|date|timestamp|created|updated|expires|expiration|until|start|end)$|\bexpires? at\b|\bexpiry\b/.test(words)
  ) {
    return bounded(Math.trunc(timeMsOf(clue) / 1000));
  }
  if (/\b(rate|progress|percent|percentage|score|ratio|probability|latitude|longitude|fraction)\b/.test(words)) {
    return bounded(isFraction ? (number % 100) / 100 : number % 100);
  }
  if (/\b(amount|value|price|balance|total amount|cost|current|available|limit)\b/.test(words))
    return bounded(1000 + (number % 90_000));
  if (/\b(page)$/.test(words)) return bounded(1);
  if (/\b(errors?|failures?|abuse|bounces|removed|failed)\b/.test(words)) return bounded(0);
  return bounded(1 + (number % 50));
}

const endWords = /\b(complete|completed|done|finished|paid|signed|sent|viewed)\b/;

function booleanFor({ words, number, isNew }: Clue): boolean {
  if (isNew === true && endWords.test(words)) return false;
  if (falseWords.test(words)) return false;
  return trueWords.test(words) || number % 2 === 0;
}

/** Returns one of the values. `number`: determines which one (a number from `numberOf`). */
function pick<T>(values: readonly [T, ...T[]], number: number): T {
  return values[number % values.length] ?? values[0];
}
