import { SecretsService } from "@svc/gen/secrets";
import { useState } from "react";
import { useRefresh } from "../../calls/refresh.ts";
import { useWrite } from "../../calls/write.ts";
import { announce } from "../../ui/announce.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { FaultNotice } from "../../ui/fault.tsx";
import { TextField } from "../../ui/field.tsx";
import { FormFrame } from "../../ui/form-frame.tsx";

/** Puts a secret: a new one where `name` is empty, else a new value of that one. */
export function SecretDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const [typedName, setName] = useState(name);
  const [value, setValue] = useState("");
  const refresh = useRefresh(SecretsService);
  const put = useWrite(SecretsService.method.putSecret, {
    onSuccess: () => {
      announce(`The secret ${typedName} has its value.`);
      onClose();
      return refresh();
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={name === "" ? "Add a secret" : `A new value for ${name}`}
      hideOnInteractOutside={false}
    >
      <FormFrame onSubmit={() => put.send({ name: typedName, value })}>
        {name === "" && (
          <TextField
            label="Name"
            mono
            required
            autoComplete="off"
            value={typedName}
            onChange={setName}
            hint="A lower-case letter, then lower-case letters, digits, - and _: billing_token"
          />
        )}
        <TextField
          label="Value"
          type="password"
          mono
          required
          autoComplete="off"
          value={value}
          onChange={setValue}
          hint="8 to 8,192 characters, as it is to be sent. It is sealed, and no call reads it back."
        />
        <FaultNotice error={put.error} />
        <Button kind="primary" type="submit" busy={put.isSending ? "Putting" : undefined}>
          {name === "" ? "Add the secret" : "Put the new value"}
        </Button>
      </FormFrame>
    </Dialog>
  );
}
