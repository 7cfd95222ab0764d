//! The shortest way to see mica stream: one question with a tool call, on all three wires.
//!
//! Without a configured endpoint a scripted server on this machine plays the model, over real HTTP. With one, the same
//! code asks the real model.

mod ask;
mod setup;
mod show;

use std::process::ExitCode;

use setup::{Options, Target};
use show::Screen;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            show::line(setup::HELP);
            return ExitCode::SUCCESS;
        }
        Err(problem) => {
            show::complain(&format!("{problem}\n\n{}", setup::HELP));
            return ExitCode::FAILURE;
        }
    };
    let screen = Screen::of_this_terminal();
    match run(&options, &screen).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(problem) => {
            show::complain(&format!("demo: {problem}"));
            ExitCode::FAILURE
        }
    }
}

/// Asks on every wire that is wanted. Tells whether all of them answered.
async fn run(options: &Options, screen: &Screen) -> Result<bool, Box<dyn std::error::Error>> {
    let target = Target::find(options).await?;
    screen.intro(&target);
    let mut all_answered = true;
    for choice in target.choices(options)? {
        screen.heading(&choice);
        let provider = target.provider_for(&choice)?;
        all_answered &= ask::ask(&*provider, &choice, options, screen).await;
    }
    target.close().await;
    Ok(all_answered)
}
