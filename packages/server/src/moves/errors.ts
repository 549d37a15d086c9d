/** Error that stops a move of a project. The message says what is wrong and what would be right. */
export class MoveError extends Error {
  override readonly name = "MoveError";
}
