#!/usr/bin/env node
// Plugin of buf that writes openapi.json: an OpenAPI 3.1 document of the calls of svc.v1 (`npm run gen`). Streaming calls are only named in
// its description, because OpenAPI has no form for them.
import { getOption } from "@bufbuild/protobuf";
import { createEcmaScriptPlugin, runNodeJs } from "@bufbuild/protoplugin";
import { commentOf, readErrors } from "./openapi/comments.mjs";
import { errorSchema, sharedErrorSchemas } from "./openapi/error-schema.mjs";
import { describeMessages } from "./openapi/messages.mjs";

const ownPackage = "svc.v1";

runNodeJs(createEcmaScriptPlugin({ name: "protoc-gen-openapi", version: "v1", generateTs: writeDocument }));

function writeDocument(schema) {
  const files = schema.files.filter(({ proto }) => proto.package === ownPackage);
  const services = files.flatMap((file) => file.services);
  const calls = services.flatMap(({ methods }) => methods);
  const unary = calls.filter(({ methodKind }) => methodKind === "unary");
  const streams = calls.filter(({ methodKind }) => methodKind !== "unary");
  const { schemas, refOf } = describeMessages(unary);
  const context = { refOf, roleOf: roleReader(schema) };
  const { errors: everyCall } = readErrors(errorDetailOf(files));
  const document = {
    openapi: "3.1.1",
    info: {
      title: "svc",
      version: "v1",
      description: introduction(streams),
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "The service that serves this document" }],
    tags: services.map((service) => ({ name: service.name, description: commentOf(service) })),
    paths: Object.fromEntries(unary.map((method) => [pathOf(method), { post: operationOf(method, context) }])),
    components: { schemas: { ...sharedErrorSchemas(everyCall), ...schemas }, securitySchemes },
  };
  schema.generateFile("openapi.json").print(JSON.stringify(document, undefined, 1));
}

const securitySchemes = {
  apiKey: { type: "http", scheme: "bearer", description: "A key of a project, `svc_…`." },
  adminToken: { type: "http", scheme: "bearer", description: "The administrator token (`SVC_ADMIN_TOKEN`)." },
};

function introduction(streams) {
  return `Each call is a POST with a JSON body and the header \`Authorization: Bearer <key>\`. A call without parameters has the body \`{}\`.
An error has the form \`{code, message, details}\`. Programs read \`code\` and \`details[].debug.reason\`.

Requests are strict: svc refuses unknown fields. Responses are open: later versions may add fields, enum values and reasons.

The calls of AdminService may have another address (\`SVC_ADMIN_LISTEN\`). These calls answer with a stream and are not described here:
${streams.map((method) => `\`${pathOf(method)}\``).join(", ")}.`;
}

function operationOf(method, { refOf, roleOf }) {
  const { says, errors } = readErrors(method);
  const role = roleOf(method);
  const [summary = says] = /^.*?\.(?=\s|$)/s.exec(says) ?? [];
  return {
    operationId: `${method.parent.name}_${method.name}`,
    tags: [method.parent.name],
    summary: summary.replace(/\s+/g, " "),
    description: says,
    "x-svc-role": role,
    security: [role === "admin" ? { adminToken: [] } : { apiKey: [] }],
    requestBody: { required: true, content: json(refOf(method.input, "request")) },
    responses: {
      200: { description: commentOf(method.output), content: json(refOf(method.output, "response")) },
      default: { description: describeErrors(errors), content: json(errorSchema(errors)) },
    },
  };
}

function describeErrors(errors) {
  const own = errors.map(({ code, reason, when }) => `- \`${reason}\` (${code}): ${when.replace(/\s+/g, " ")}`);
  return ["The call failed. `reason` names the problem.", ...own].join("\n");
}

function json(schema) {
  return { "application/json": { schema } };
}

function pathOf(method) {
  return `/${method.parent.typeName}/${method.name}`;
}

/** Returns the message whose comment lists the errors of every call. */
function errorDetailOf(files) {
  const messages = files.flatMap((file) => file.messages);
  return messages.find(({ typeName }) => typeName === `${ownPackage}.ErrorDetail`);
}

/**
 * Returns a function that reads the role that a call requires, in lower case: `member`, `approver` or `admin`. It reads the option from the
 * contract itself, because the generated code may be out of date.
 */
function roleReader(schema) {
  const extensions = schema.files.flatMap((file) => file.extensions);
  const option = extensions.find(({ name }) => name === "required_role");
  return (method) => option.enum.value[getOption(method, option)].name.replace("ROLE_", "").toLowerCase();
}
