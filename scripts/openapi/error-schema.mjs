// Describes the body of errors as JSON Schemas.

import { Code } from "@connectrpc/connect";
import { codeToString } from "@connectrpc/connect/protocol-connect";

/** Codes of errors, of which each has one HTTP status. */
const codes = Object.values(Code)
  .filter((code) => typeof code === "number")
  .map(codeToString);

/** Returns the schemas that the errors of all calls share. `everyCall`: the errors with which every call can fail. */
export function sharedErrorSchemas(everyCall) {
  const reasons = everyCall.map(({ code, reason, when }) => `- \`${reason}\` (${code}): ${when.replace(/\s+/g, " ")}`);
  return {
    ErrorCode: { type: "string", enum: codes, description: "Kind of an error. It decides the HTTP status." },
    EveryCallReason: {
      type: "string",
      enum: everyCall.map(({ reason }) => reason),
      description: ["Reason with which every call can fail.", "", ...reasons].join("\n"),
    },
  };
}

/** Returns the JSON Schema of the error body of a call. `errors`: the call's own errors. Later versions may have more reasons. */
export function errorSchema(errors) {
  const own = [...new Set(errors.map(({ reason }) => reason))];
  const ownReason = own.length === 0 ? [] : [{ type: "string", enum: own }];
  return {
    type: "object",
    required: ["code", "message"],
    properties: {
      code: { $ref: "#/components/schemas/ErrorCode" },
      message: { type: "string", description: "Field, problem and value, for people." },
      details: {
        type: "array",
        description: "One entry for each problem; usually there is one.",
        items: {
          type: "object",
          properties: {
            type: { type: "string", examples: ["svc.v1.ErrorDetail"] },
            debug: {
              type: "object",
              properties: {
                reason: {
                  anyOf: [...ownReason, { $ref: "#/components/schemas/EveryCallReason" }, { type: "string" }],
                  description: "Stable name of the problem.",
                },
                field: { type: "string", description: "JSON name of the request field that is wrong." },
                help: { type: "string", description: "Correct value or next step." },
              },
            },
            value: { type: "string", description: "The same detail as base64 of the binary message." },
          },
        },
      },
    },
  };
}
