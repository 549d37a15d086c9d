import { Button } from "../buttons/button.tsx";
import { Stack } from "../layout/stack.tsx";
import { Notice } from "../notice/notice.tsx";
import { CodeBlock } from "../values/copy.tsx";
import { Dialog } from "./dialog.tsx";

/** A dialog that shows a new secret once. `says`: what the user does with it. `what`: its name, for the button that copies it. */
export function SecretMade({
  title,
  says,
  what,
  text,
  onClose,
}: {
  title: string;
  says: string;
  what: string;
  text: string;
  onClose: () => void;
}) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={title}
      hideOnInteractOutside={false}
      actions={
        <Button kind="primary" onPress={onClose}>
          I've saved it
        </Button>
      }
    >
      <Stack>
        <Notice tone="warn" title="This is the only time it is shown.">
          <p>{says}</p>
        </Notice>
        <CodeBlock text={text} what={what} />
      </Stack>
    </Dialog>
  );
}

/** A dialog that shows the text of a new API key once. */
export function KeyMade({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <SecretMade
      title="The key is created"
      says="svc stores only a hash of the key. Save it in your secret store now."
      what="key"
      text={text}
      onClose={onClose}
    />
  );
}
