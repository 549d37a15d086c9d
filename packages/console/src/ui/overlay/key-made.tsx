import { Button } from "../buttons/button.tsx";
import { Stack } from "../layout/stack.tsx";
import { Notice } from "../notice/notice.tsx";
import { CodeBlock } from "../values/copy.tsx";
import { Dialog } from "./dialog.tsx";

/** A dialog that shows the text of a new key once. */
export function KeyMade({ text, onClose }: { text: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title="The key is created"
      hideOnInteractOutside={false}
      actions={
        <Button kind="primary" onPress={onClose}>
          It is kept safe
        </Button>
      }
    >
      <Stack>
        <Notice tone="warn" title="This is the only time it is shown.">
          <p>The service keeps a digest of it. Put it where secrets are kept, and hand it over there.</p>
        </Notice>
        <CodeBlock text={text} what="key" />
      </Stack>
    </Dialog>
  );
}
