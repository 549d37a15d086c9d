const shared = new WeakSet<object>();

/**
 * Marks a message that is sent repeatedly and never changes, so that writers may cache its text. Inside other messages, the text of that
 * part is cached.
 */
export function shareMessage<Message extends object>(message: Message): Message {
  shared.add(message);
  return message;
}

/** True if a message was marked as never changing. */
export function isShared(message: object): boolean {
  return shared.has(message);
}
