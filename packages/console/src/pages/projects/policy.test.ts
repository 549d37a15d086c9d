import { create } from "@bufbuild/protobuf";
import { ProjectPolicySchema } from "@svc/gen/admin";
import { expect, test } from "vitest";
import { planApprovalWords, policyRequest, typedPolicy } from "./policy.ts";

const policy = create(ProjectPolicySchema, {
  ...{ planApproval: "destructive", redirectUrls: ["https://a.example/done"], http: { hosts: ["api.example"] } },
  ...{ quotas: { calls: 5, storedBytes: -1 }, confirm: { person: "destructive", contact: "lead" } },
});

test("a policy that is opened and sent unchanged is the same policy", () => {
  expect(policyRequest("prj_1", typedPolicy(policy))).toMatchObject({
    ...{ projectId: "prj_1", planApproval: "destructive", redirectUrls: ["https://a.example/done"] },
    ...{ http: { hosts: ["api.example"] }, quotas: { calls: 5, jobs: 0, storedBytes: -1 } },
    confirm: { person: "destructive", contact: "lead" },
  });
});

test("where no person confirms, nobody is asked", () => {
  expect(policyRequest("prj_1", { ...typedPolicy(policy), confirmPerson: "never" })).toMatchObject({
    confirm: { person: "never", contact: "" },
  });
});

test("a quota that is no number is refused by its name, and empty lines are no entries", () => {
  const typed = typedPolicy(policy);
  expect(() => policyRequest("prj_1", { ...typed, quotas: { ...typed.quotas, jobs: "1.5" } })).toThrow(/jobs.*1\.5/);
  expect(policyRequest("prj_1", { ...typed, hosts: " a.example \n\n" })).toMatchObject({
    http: { hosts: ["a.example"] },
  });
});

test("the default approval is told as what it means", () => {
  expect(planApprovalWords("")).toBe("if the program asks for it");
  expect(planApprovalWords("newer")).toBe("newer");
});
