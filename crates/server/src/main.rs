//! The `toolshelf` program.

fn main() -> std::process::ExitCode {
    toolshelf_server::main()
}
