import { SecretsService } from "@svc/gen/secrets";
import { useRefresh } from "../../calls/refresh.ts";
import { WriteDialog } from "../../frame/write-dialog.tsx";
import { announce } from "../../ui/notice/announce.ts";

/** Puts a secret: a new one where `name` is empty, else a new value of that one. */
export function SecretDialog({ name, onClose }: { name: string; onClose: () => void }) {
  const refresh = useRefresh(SecretsService);
  return (
    <WriteDialog
      method={SecretsService.method.putSecret}
      title={name === "" ? "Add a secret" : `A new value for ${name}`}
      fields={{
        name: {
          text: "Name",
          mono: true,
          required: true,
          autoComplete: "off",
          hint: "A lower-case letter, then lower-case letters, digits, - and _: billing_token",
          when: () => name === "",
        },
        value: {
          text: "Value",
          type: "password",
          mono: true,
          required: true,
          autoComplete: "off",
          hint: "8 to 8,192 characters, as it is to be sent. It is sealed, and no call reads it back.",
        },
      }}
      start={{ name }}
      request={(values) => values}
      act={name === "" ? "Add the secret" : "Put the new value"}
      busy="Putting"
      onClose={onClose}
      done={(_, values) => {
        announce(`The secret ${values.name} has its value.`);
        onClose();
        return refresh();
      }}
    />
  );
}
