//! The Chat Completions wire, as OpenAI, Azure AI Foundry, Ollama, vLLM, llama.cpp and most others speak it.

pub mod request;
pub mod stream;
mod wire;
