import {
  type DescField,
  type DescMessage,
  type DescMethod,
  getOption,
  hasOption,
  type Message,
} from "@bufbuild/protobuf";
import { Audited, audit_entity, audit_result, audit_subject, audited } from "@svc/gen/options";

/**
 * How an API call is recorded in the audit log. Each member except `action` reads one value of the audit entry from the request or
 * response. The member is undefined if the call has no such value.
 */
export type AuditRule = {
  /** Name of the audited API call, with its service (for example `AdminService.CreateApiKey`). */
  readonly action: string;
  readonly subject: ReadText | undefined;
  readonly entity: ReadText | undefined;
  readonly projectId: ReadText | undefined;
  readonly made: ReadText | undefined;
  readonly madeProjectId: ReadText | undefined;
};

/** Returns a text field of a message. Empty if the field, or a message that contains it, is not set. */
export type ReadText = (message: Message) => string;

/**
 * Returns how a call is recorded in the audit log; undefined if the call is not recorded. Throws an Error, so that the server does not
 * start, if a call has no declaration, declares an unknown field, or is audited and has a request stream.
 */
export function readAuditRule(method: DescMethod): AuditRule | undefined {
  const name = `${method.parent.typeName}/${method.name}`;
  const declared = hasOption(method, audited) ? getOption(method, audited) : Audited.UNSPECIFIED;
  if (declared === Audited.NONE) return undefined;
  if (declared !== Audited.LOGGED) throw new Error(`${name} declares no audited`);
  if (method.methodKind !== "unary" && method.methodKind !== "server_streaming")
    throw new Error(`${name} takes a stream, and is declared as audited`);
  const result = getOption(method, audit_result);
  if (result !== "" && method.methodKind !== "unary") throw new Error(`${name} is a stream, which makes nothing`);
  const madeProject = [...result.split(".").slice(0, -1), "project_id"].join(".");
  return {
    action: `${method.parent.name}.${method.name}`,
    subject: pathsReader(method.input, getOption(method, audit_subject), name),
    entity: pathReader(method.input, getOption(method, audit_entity), name),
    projectId: hasPath(method.input, "project_id") ? pathReader(method.input, "project_id", name) : undefined,
    made: pathReader(method.output, result, name),
    madeProjectId:
      result !== "" && hasPath(method.output, madeProject) ? pathReader(method.output, madeProject, name) : undefined,
  };
}

function hasPath(desc: DescMessage, path: string): boolean {
  return fieldsOf(desc, path) !== undefined;
}

/** Returns a reader of the texts at several paths with spaces between them. */
function pathsReader(desc: DescMessage, paths: string, name: string): ReadText | undefined {
  if (!paths.includes(" ")) return pathReader(desc, paths, name);
  const readers = paths.split(" ").map((path) => pathReader(desc, path, name));
  return (message) =>
    readers
      .map((read) => read?.(message) ?? "")
      .join(" ")
      .trim();
}

function pathReader(desc: DescMessage, path: string, name: string): ReadText | undefined {
  if (path === "") return undefined;
  const fields = fieldsOf(desc, path);
  if (fields === undefined) throw new Error(`${name} is audited by ${path}, which is not a text of ${desc.typeName}`);
  return (message) => {
    let found: unknown = message;
    for (const { localName } of fields) {
      found = typeof found === "object" && found !== null ? Reflect.get(found, localName) : undefined;
    }
    return typeof found === "string" ? found : "";
  };
}

/** Returns the fields through which a path such as `project.id` leads. Undefined if the path does not end at a scalar field. */
function fieldsOf(desc: DescMessage, path: string): DescField[] | undefined {
  const fields: DescField[] = [];
  let at: DescMessage | undefined = desc;
  for (const name of path.split(".")) {
    const field: DescField | undefined = at?.fields.find((one) => one.name === name);
    if (field === undefined) return undefined;
    fields.push(field);
    at = field.fieldKind === "message" ? field.message : undefined;
  }
  return fields.at(-1)?.fieldKind === "scalar" ? fields : undefined;
}
