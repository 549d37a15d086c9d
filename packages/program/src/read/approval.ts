import type { Approval, PlanApproval } from "../program.ts";
import { type ObjectForm, schemaOf } from "./form.ts";
import { hopCount, principalSchema, readPrincipal } from "./ladder.ts";
import type { Node, ShapeReader } from "./shape.ts";

const plans = ["never", "destructive", "always"] as const satisfies readonly PlanApproval[];

const approverForm: ObjectForm = {
  description: "One contact.",
  required: { principal: principalSchema("head") },
  optional: {},
  examples: [{ principal: "head" }],
};

/** The form of `approval`. */
export const approvalForm: ObjectForm = {
  description: "Whether the plan is approved before it runs, and by whom.",
  required: {},
  optional: {
    plan: {
      description:
        "Never, when a destructive call stands in the plan (the default; undo calls do not count), or always. The project may demand more.",
      enum: plans,
      examples: ["destructive"],
    },
    escalation: {
      description: "Contacts that approvals are addressed to, all at once. Default: every approver.",
      type: "array",
      minItems: hopCount.min,
      maxItems: hopCount.max,
      items: schemaOf(approverForm),
      examples: [[{ principal: "head" }]],
    },
  },
  examples: [{ plan: "always", escalation: [{ principal: "head" }] }],
};

/** Reads whether and by whom the plan is approved. */
export function readApproval(node: Node, reader: ShapeReader): Approval {
  const fields = node.value === undefined ? undefined : reader.fields(node, approvalForm);
  if (fields === undefined) return { plan: "destructive", escalation: [] };
  const hops = fields.has("escalation") ? reader.items(fields.at("escalation"), hopCount) : [];
  const escalation = (hops ?? []).map((hop) => readPrincipal(reader.fields(hop, approverForm), reader));
  return { plan: reader.oneOf<PlanApproval>(fields.at("plan"), plans) ?? "destructive", escalation };
}
