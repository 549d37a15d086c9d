import { IdentityService } from "@svc/gen/identity";
import { Role } from "@svc/sdk";
import { originOf } from "../command/client.ts";
import { call } from "../command/topic.ts";
import { boundText, confirmText } from "../text/bound.ts";

/** `svc whoami`. */
export const addWhoamiCommand = call(IdentityService.method.getIdentity, {
  says: "show the project and the role of the key in use, where the key comes from and which service answered",
  shows: (found, { context }) => {
    const origin = originOf(context);
    const bound = boundText(found);
    const confirmed = confirmText(found.confirm);
    return [
      `project  ${found.projectName} (${found.projectId})`,
      `role     ${found.role === Role.APPROVER ? "approver" : "member"}`,
      `key      ${found.keyId}${origin === undefined ? "" : `; ${origin.credential}`}`,
      ...(bound === "" ? [] : [`bound to ${bound}`]),
      ...(confirmed === "" ? [] : [`confirm  ${confirmed}`]),
      `service  ${origin?.url ?? ""}`,
    ];
  },
  examples: ["svc whoami", "svc whoami --json"],
});
