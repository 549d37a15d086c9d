import { type CallLimit, ToolsService } from "@svc/gen/tools";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { CheckField, TextField } from "../../ui/field.tsx";
import { FormFrame } from "../../ui/form-frame.tsx";
import { limitOf, type TypedLimit, typedOf } from "./limit.ts";

/** Puts a call limit, as a whole. */
export function LimitDialog({ limit, onClose }: { limit: CallLimit | undefined; onClose: () => void }) {
  const [typed, setTyped] = useState(() => typedOf(limit));
  const refresh = useRefresh(ToolsService);
  const put = useWrite(ToolsService.method.putCallLimit, {
    onSuccess: () => {
      announce(`The limit ${typed.name} holds.`);
      onClose();
      return refresh();
    },
  });
  const field = (name: Exclude<keyof TypedLimit, "paused">, label: string, hint: string) => (
    <TextField
      label={label}
      hint={hint}
      autoComplete="off"
      value={typed[name]}
      onChange={(value) => setTyped({ ...typed, [name]: value })}
    />
  );
  return (
    <Dialog
      open
      onClose={onClose}
      title={limit === undefined ? "Add a call limit" : `Change the limit ${limit.name}`}
      hideOnInteractOutside={false}
    >
      <FormFrame onSubmit={() => put.send({ limit: limitOf(typed) })}>
        {limit === undefined && field("name", "Name", "A lower-case letter, then lower-case letters, digits, - and _.")}
        {field("toolkitSlug", "Toolkit", "Only its calls; empty for those of every toolkit.")}
        {field("concurrency", "Calls at once", "Empty for any number.")}
        {field("rateMax", "Calls that begin in a time", "Empty for any number.")}
        {field("ratePer", "That time, in seconds", "1 to 86,400.")}
        {field(
          "keyExpression",
          "Counted by",
          "CEL over toolSlug, entityId, accountId and accessClass, such as accountId. Empty: all together.",
        )}
        <CheckField
          label="Paused: no call goes"
          checked={typed.paused}
          onChange={(paused) => setTyped({ ...typed, paused })}
        />
        <FaultNotice error={put.error} />
        <Button kind="primary" type="submit" busy={put.isSending ? "Putting" : undefined}>
          {limit === undefined ? "Add the limit" : "Put the limit"}
        </Button>
      </FormFrame>
    </Dialog>
  );
}
