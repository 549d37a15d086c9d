// Writes docs/reference/api: a page for each call, for each service, and for each message that several pages need.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { getOption } from "@bufbuild/protobuf";
import { Audited, audited, BoundKey, bound_key, Role, required_role } from "@svc/gen/options";
import { root } from "../run.mjs";
import { examplesOf } from "./examples.mjs";
import { blocks, kebab, page, plain, table } from "./write.mjs";

const linesMax = 250;
const folder = "docs/reference/api";

/** Returns the pages of the contract as text, by path. `commandsOf`: returns the commands that make a call, as Markdown. */
export function writeApi({ services, messages, enums, comments }, commandsOf) {
  const commentOf = (name) => comments.get(name) ?? "";
  const kinds = new Map([...messages, ...enums].map((kind) => [kind.typeName, kind]));
  const examples = examplesOf(readGolden());
  const calls = services.flatMap((service) => service.methods);
  const homes = placeKinds(calls, kinds);
  const pageOfCall = (method) => `${folder}/${folderOf(method.parent)}/${kebab(method.name)}.md`;
  const callPages = new Map(calls.map((method) => [method.name, pageOfCall(method)]));

  /** Returns a text of the contract as Markdown. API calls in it become links. */
  const textOf = (comment, from) =>
    plain(comment).replace(/(?<![\w`/.])([A-Z][a-z]+(?:[A-Z][a-z]+)+)(?![\w`(])/g, (name) => {
      const to = callPages.get(name);
      return to === undefined || to === from ? name : `[${name}](${way(from, to)})`;
    });
  const lineOf = (comment, from) => textOf(comment.replace(/\s*\n\s*/g, " "), from);

  /** Returns a comment as a list item. Its own lists and other paragraphs are placed below the item. */
  const itemOf = (comment, from) =>
    textOf(comment, from)
      .split(/\n\n+/)
      .map((part) => part.replace(/\n(?!- )\s*/g, " ").replace(/(?:^|\n)- /g, "\n  - "))
      .map((part, index) => (index === 0 || part.startsWith("\n") ? part : `\n\n  ${part}`))
      .join("")
      .trim();

  const linkOf = (kind, from) => {
    const home = homes.get(kind.typeName);
    const anchor = `#${nameOf(kind).toLowerCase().replaceAll(".", "")}`;
    return `[${nameOf(kind)}](${home === undefined ? way(from, pageOfKind(kind)) : anchor})`;
  };

  const fieldsOf = (message, from) =>
    message.fields
      .map((field) => {
        const says = itemOf(commentOf(`${message.typeName}.${field.name}`), from);
        return `- \`${field.jsonName}\` (${typeOf(field, (kind) => linkOf(kind, from))}): ${says}`;
      })
      .join("\n");

  const kindBody = (kind, from) =>
    kind.kind === "enum"
      ? kind.values
          .map((value) => `- \`${value.name}\`: ${itemOf(commentOf(`${kind.typeName}.${value.name}`), from)}`)
          .join("\n")
      : fieldsOf(kind, from);

  const inlined = (owner, from) =>
    [...homes]
      .filter(([, home]) => home === owner)
      .map(([name]) => kinds.get(name))
      .map((kind) => blocks(`## ${nameOf(kind)}`, textOf(commentOf(kind.typeName), from), kindBody(kind, from)));

  const callPage = (method) => {
    const from = pageOfCall(method);
    const { says, errors } = splitErrors(commentOf(`${method.parent.typeName}.${method.name}`));
    const reasons = errors.map(({ code, reason, when }) => [`\`${reason}\``, `\`${code}\``, lineOf(when, from)]);
    const example = method.methodKind === "unary" ? examples.get(`${method.parent.name}.${method.name}`) : undefined;
    return page(
      `# ${method.name}`,
      textOf(says, from),
      factsOf(method, commandsOf(method)),
      example && ["## Example", exampleOf(method, example)],
      ["## Request", fieldsOf(method.input, from) || "The request has no fields: send `{}`."],
      [
        method.methodKind === "unary" ? "## Response" : "## Each message of the response",
        fieldsOf(method.output, from) || "The response has no fields.",
      ],
      "## Errors",
      reasons.length > 0 && table(["reason", "code", "when"], reasons),
      `${reasons.length > 0 ? "Besides these, the call" : "The call"} can fail with the [errors of every call](${way(from, "docs/reference/errors/every-call.md")}).`,
      inlined(method.name, from),
    );
  };

  const kindPage = (kind) => {
    const from = pageOfKind(kind);
    return page(
      `# ${nameOf(kind)}`,
      textOf(commentOf(kind.typeName), from) || `${nameOf(kind)} is a part of requests and responses.`,
      kindBody(kind, from),
      usersOf(kind, calls, pageOfCall, from),
      inlined(kind.typeName, from),
    );
  };

  const servicePage = (service) => {
    const from = `${folder}/${folderOf(service)}/index.md`;
    const rows = service.methods.map((method) => {
      const [first] = /^.*?\.(?=\s|$)/s.exec(commentOf(`${service.typeName}.${method.name}`)) ?? [""];
      return [`[${method.name}](${way(from, pageOfCall(method))})`, lineOf(first, from)];
    });
    return page(`# ${service.name}`, textOf(commentOf(service.typeName), from), table(["call", "what it does"], rows));
  };

  const shared = [...kinds.values()].filter(
    (kind) => isOwn(kind) && isUsed(kind, calls, kinds) && !homes.has(kind.typeName),
  );
  const pages = [
    [`${folder}/index.md`, indexPage(services, commentOf)],
    ...services.map((service) => [`${folder}/${folderOf(service)}/index.md`, servicePage(service)]),
    ...calls.map((method) => [pageOfCall(method), callPage(method)]),
    ...shared.map((kind) => [pageOfKind(kind), kindPage(kind)]),
    [`${folder}/messages/index.md`, messagesPage(shared, commentOf)],
  ];
  const long = pages.filter(([, text]) => text.split("\n").length > linesMax);
  if (long.length > 0) throw new Error(`longer than ${linesMax} lines: ${long.map(([path]) => path).join(", ")}`);
  return new Map(pages);

  /** Decides where each message or enum is shown: on the only page that needs it, or on a page of its own (undefined). */
  function placeKinds() {
    const owners = new Map();
    for (const method of calls)
      for (const message of [method.input, method.output]) addOwners(message, method.name, owners);
    const placed = new Map();
    const rootOf = (name) => (placed.has(name) ? rootOf(placed.get(name)) : name);
    for (let isChanged = true; isChanged; ) {
      isChanged = false;
      for (const [name, users] of owners) {
        const roots = new Set([...users].filter((user) => user !== name).map(rootOf));
        if (placed.has(name) || roots.size !== 1 || roots.has(name)) continue;
        placed.set(name, [...roots][0]);
        isChanged = true;
      }
    }
    // The place of a kind may itself have got a place on another page since.
    return new Map([...placed.keys()].map((name) => [name, rootOf(name)]));
  }
}

/** Notes, for each message and enum inside a message, which call or message needs it. */
function addOwners(message, owner, owners) {
  for (const kind of kindsIn(message)) {
    const isKnown = owners.has(kind.typeName);
    if (!isKnown) owners.set(kind.typeName, new Set());
    owners.get(kind.typeName).add(owner);
    if (!isKnown && kind.kind === "message") addOwners(kind, kind.typeName, owners);
  }
}

/** Returns the messages and enums of svc.v1 that occur in the fields of a message. */
function kindsIn(message) {
  return message.fields.map((field) => field.message ?? field.enum).filter((kind) => kind !== undefined && isOwn(kind));
}

function isOwn({ typeName }) {
  return typeName.startsWith("svc.v1.");
}

function isUsed(kind, calls, kinds) {
  const inputs = new Set(calls.flatMap(({ input, output }) => [input.typeName, output.typeName]));
  if (inputs.has(kind.typeName)) return false;
  return (
    calls.some(({ input, output }) => kindsIn(input).includes(kind) || kindsIn(output).includes(kind)) ||
    [...kinds.values()].some((one) => one !== kind && one.kind === "message" && kindsIn(one).includes(kind))
  );
}

function usersOf(kind, calls, pageOfCall, from) {
  const direct = calls.filter(({ input, output }) => kindsIn(input).includes(kind) || kindsIn(output).includes(kind));
  if (direct.length === 0) return undefined;
  return `Used by ${direct.map((method) => `[${method.name}](${way(from, pageOfCall(method))})`).join(", ")}.`;
}

function nameOf({ typeName }) {
  return typeName.replace("svc.v1.", "");
}

function folderOf({ name }) {
  return kebab(name.replace(/Service$/, ""));
}

function pageOfKind(kind) {
  return `${folder}/messages/${kebab(nameOf(kind).replaceAll(".", ""))}.md`;
}

/** Returns the relative link from one page to another. */
function way(from, to) {
  const [own, other] = [from.split("/"), to.split("/")];
  let same = 0;
  while (own[same] === other[same] && same < own.length - 1) same += 1;
  return [...own.slice(same + 1).map(() => ".."), ...other.slice(same)].join("/");
}

const scalars = [
  "",
  "number",
  "number",
  "integer as text",
  "integer as text",
  "integer",
  "integer as text",
  "integer",
  "boolean",
  "string",
  "",
  "",
  "base64 text",
  "integer",
  "",
  "integer",
  "integer as text",
  "integer",
  "integer as text",
];
const wellKnown = {
  "google.protobuf.Timestamp": "RFC 3339 time",
  "google.protobuf.Duration": "duration",
  "google.protobuf.Struct": "JSON object",
  "google.protobuf.Value": "JSON value",
};

/** Returns the type of a field in JSON. */
function typeOf(field, linkOf) {
  const one = field.message ?? field.enum;
  const name = one === undefined ? scalars[field.scalar] : (wellKnown[one.typeName] ?? linkOf(one));
  if (field.fieldKind === "list") return `list of ${name}`;
  if (field.fieldKind === "map") return `object, ${name} by name`;
  return field.proto.proto3Optional ? `${name}, optional` : name;
}

/** Returns the text of a comment, and separately the errors that it lists. */
function splitErrors(comment) {
  const [says = "", list = ""] = comment.split(/^Errors:$/m);
  const errors = [...list.matchAll(/^- (\w+) (\w+): ([\s\S]*?)(?=^- |^$|$(?![\s\S]))/gm)];
  const after = list.replace(/^- \w+ \w+: [\s\S]*?(?=^- |^$|$(?![\s\S]))/gm, "").trim();
  return {
    says: blocks(says.trim(), after),
    errors: errors.map(([, code, reason, when]) => ({ code, reason, when: when.trim() })),
  };
}

const roles = {
  [Role.MEMBER]: "a key of the project",
  [Role.APPROVER]: "a key of the project with the role `approver`",
  [Role.ADMIN]: "the administrator token (`SVC_ADMIN_TOKEN`)",
};

function factsOf(method, commands) {
  const isNarrowed = getOption(method, bound_key) === BoundKey.NARROWED;
  const role = getOption(method, required_role);
  const isAdmin = role === Role.ADMIN;
  return [
    `- Path: \`POST /${method.parent.typeName}/${method.name}\``,
    `- Needs: ${roles[role]}`,
    isAdmin ? undefined : `- Scoped keys: ${isNarrowed ? "allowed, within their scope" : "refused"}`,
    `- Audit log: ${getOption(method, audited) === Audited.LOGGED ? "recorded" : "not recorded"}`,
    `- Command: ${commands}`,
    method.methodKind === "unary" ? undefined : "- The response is a stream of messages.",
  ]
    .filter((line) => line !== undefined)
    .join("\n");
}

/** Returns an example of a call: a request that a test has made, with its answer. */
function exampleOf(method, { request, response }) {
  const isAdmin = getOption(method, required_role) === Role.ADMIN;
  const body = JSON.stringify(request).replaceAll("'", "'\\''");
  return blocks(
    `\`\`\`sh
curl "$SVC_URL/${method.parent.typeName}/${method.name}" \\
  -H "Authorization: Bearer $${isAdmin ? "SVC_ADMIN_TOKEN" : "SVC_API_KEY"}" \\
  -H "Content-Type: application/json" \\
  -d '${body}'
\`\`\``,
    response === undefined ? undefined : `\`\`\`json\n${JSON.stringify(response, undefined, 2)}\n\`\`\``,
  );
}

function readGolden() {
  const place = join(root, "test/golden/calls");
  return readdirSync(place).map((file) => [file.replace(".txt", ""), readFileSync(join(place, file), "utf8")]);
}

function indexPage(services, commentOf) {
  const rows = services.map((service) => {
    const [first] = /^.*?\.(?=\s|$)/s.exec(commentOf(service.typeName)) ?? [""];
    return [`[${service.name}](${folderOf(service)}/index.md)`, plain(first.replaceAll("\n", " "))];
  });
  return page(
    "# API",
    "Every call of the API, with its request, its response and its errors. A call is a POST with a JSON body; the role and the command of each call are on its page.",
    '```sh\ncurl "$SVC_URL/svc.v1.IdentityService/GetIdentity" \\\n  -H "Authorization: Bearer $SVC_API_KEY" \\\n  -H "Content-Type: application/json" \\\n  -d \'{}\'\n```',
    table(["service", "what it is for"], rows),
    "## Names and values",
    '- Fields have their JSON names. A field that is not sent has its empty value: `""`, `0`, `false` or an empty list.\n- A field that the call does not know is refused.\n- Times are RFC 3339, such as `2026-03-14T09:00:00Z`. Integers of 64 bits are JSON strings.\n- Enums are their names, such as `ROLE_MEMBER`.\n- An error is a JSON body with a code and a reason: [errors](../errors/index.md).',
    "The contract is in `proto/svc/v1`. [Calls and commands](../calls-and-commands.md) has the command of each call, and [messages](messages/index.md) has what several calls share.",
  );
}

function messagesPage(shared, commentOf) {
  const rows = shared
    .toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    .map((kind) => {
      const [first] = /^.*?\.(?=\s|$)/s.exec(commentOf(kind.typeName)) ?? [""];
      return [`[${nameOf(kind)}](${kebab(nameOf(kind).replaceAll(".", ""))}.md)`, plain(first.replaceAll("\n", " "))];
    });
  return page("# Messages", "Messages and enums that more than one call uses.", table(["message", "what it is"], rows));
}
